// What a peer does for each order.
#include <unistd.h>

#include <cstring>

#include "peer.h"
#include "peer_message.h"
#include "virtual_memory.h"

namespace tessera::driver_conformance {
namespace {

// What the peer holds between orders.
struct State {
  int device = 0;
  void* context = nullptr;
};

Code make_current(State& state) {
  Code code = driver().cuDevicePrimaryCtxRetain(&state.context, state.device);
  return code != 0 ? code : driver().cuCtxSetCurrent(state.context);
}

Code copy_after_event(const Request& request) {
  void* stream = nullptr;
  auto* event = reinterpret_cast<void*>(request.a);  // NOLINT(performance-no-int-to-ptr)
  Code code = driver().cuStreamCreate(&stream, 1);
  if (code == 0) {
    code = driver().cuStreamWaitEvent(stream, event, 0);
  }
  if (code == 0) {
    code = driver().cuMemcpyDtoDAsync_v2(request.b, request.c, request.d, stream);
  }
  return code != 0 ? code : driver().cuStreamSynchronize(stream);
}

Reply create_virtual(State& state, const Request& request) {
  Reply reply;
  VirtualMemory memory;
  reply.code = memory.create(request.a, state.device);
  if (reply.code == 0) {
    reply.code = memory.map(3);
  }
  if (reply.code == 0) {
    reply.code = driver().cuMemsetD8_v2(memory.address(), static_cast<unsigned char>(request.b), request.a);
  }
  if (reply.code == 0) {
    reply.code = driver().cuCtxSynchronize();
  }
  if (reply.code == 0) {
    reply.code = driver().cuMemExportToShareableHandle(&reply.fd, memory.handle(), 1, 0);
  }
  return reply;
}

// The access that was not given may be missed by the call, or later by the device.
Code use_virtual(State& state, std::uint64_t size, int access) {
  VirtualMemory memory;
  Code code = memory.create(size, state.device);
  if (code == 0) {
    code = memory.map(access);
  }
  if (code != 0) {
    return -2;
  }
  code = driver().cuMemsetD8_v2(memory.address(), 1, size);
  return code != 0 ? code : driver().cuCtxSynchronize();
}

Reply obey(State& state, const Request& request) {
  Reply reply;
  Handle handle{request.bytes};
  switch (request.order) {
    case Order::kPid:
      reply.value = static_cast<std::uint64_t>(getpid());
      break;
    case Order::kInit:
      reply.code = driver().cuInit(static_cast<unsigned>(request.a));
      break;
    case Order::kDeviceCount: {
      int count = 0;
      reply.code = driver().cuDeviceGetCount(&count);
      reply.value = static_cast<std::uint64_t>(count);
      break;
    }
    case Order::kUuid:
      reply.code = driver().cuDeviceGetUuid_v2(reply.bytes.data(), static_cast<int>(request.a));
      break;
    case Order::kSetDevice:
      state.device = static_cast<int>(request.a);
      reply.code = make_current(state);
      break;
    case Order::kReleaseDevice:
      reply.code = driver().cuDevicePrimaryCtxRelease_v2(state.device);
      break;
    case Order::kRetainAgain:
      reply.code = make_current(state);
      break;
    case Order::kAllocate:
      reply.code = driver().cuMemAlloc_v2(&reply.value, request.a);
      break;
    case Order::kFree:
      reply.code = driver().cuMemFree_v2(request.a);
      break;
    case Order::kFill:
      reply.code = driver().cuMemsetD8_v2(request.a, static_cast<unsigned char>(request.b), request.c);
      if (reply.code == 0) {
        reply.code = driver().cuCtxSynchronize();
      }
      break;
    case Order::kRead:
      reply.code = driver().cuMemcpyDtoH_v2(reply.bytes.data(), request.a, reply.bytes.size());
      break;
    case Order::kExport:
      reply.code = driver().cuIpcGetMemHandle(&handle, request.a);
      reply.bytes = handle.bytes;
      break;
    case Order::kOpen:
      reply.code = driver().cuIpcOpenMemHandle_v2(&reply.value, handle, 1);
      break;
    case Order::kClose:
      reply.code = driver().cuIpcCloseMemHandle(request.a);
      break;
    case Order::kRange: {
      std::size_t size = 0;
      reply.code = driver().cuMemGetAddressRange_v2(&reply.value, &size, request.a);
      reply.other = size;
      break;
    }
    case Order::kOpenEvent: {
      void* event = nullptr;
      reply.code = driver().cuIpcOpenEventHandle(&event, handle);
      reply.value = reinterpret_cast<std::uint64_t>(event);
      break;
    }
    case Order::kCopyAfterEvent:
      reply.code = copy_after_event(request);
      break;
    case Order::kCreateVirtual:
      return create_virtual(state, request);
    case Order::kUseWithoutAccess:
      reply.code = use_virtual(state, request.a, 0);
      break;
    case Order::kWriteReadOnly:
      reply.code = use_virtual(state, request.a, 1);
      break;
  }
  return reply;
}

}  // namespace

int run_peer(int socket) {
  State state;
  Request request;
  int unused = -1;
  while (receive_message(socket, &request, sizeof(request), unused)) {
    Reply reply = obey(state, request);
    int fd = reply.fd;
    reply.fd = -1;
    if (!send_message(socket, &reply, sizeof(reply), fd)) {
      return 1;
    }
    if (fd >= 0) {
      close(fd);
    }
  }
  return 0;
}

}  // namespace tessera::driver_conformance
