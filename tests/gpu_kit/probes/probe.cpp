#include "probes/probe.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace tessera::gpu_kit {

std::string code_text(Code code) {
  const char* name = nullptr;
  if (code < 0) {
    return "the other process ended";
  }
  driver().cuGetErrorName(code, &name);
  return std::to_string(code) + " " + (name == nullptr ? "?" : name);
}

void need(Code code, const std::string& call) {
  if (code != 0) {
    throw std::runtime_error(call + " gives " + code_text(code));
  }
}

void enter_gpu() {
  void* context = nullptr;
  need(driver().cuInit(0), "cuInit");
  need(driver().cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  need(driver().cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

void* find_call(const char* name) {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return library == nullptr ? nullptr : ::dlsym(library, name);
}

PeerExport export_from(const Peer& peer, std::size_t size_bytes, unsigned char value) {
  const Reply allocated = peer.ask({.order = Order::kAllocate, .a = size_bytes});
  need(allocated.code, "cuMemAlloc of the other process");
  need(peer.ask({.order = Order::kFill, .a = allocated.value, .b = value, .c = size_bytes}).code, "cuMemsetD8");
  const Reply exported = peer.ask({.order = Order::kExport, .a = allocated.value});
  need(exported.code, "cuIpcGetMemHandle");
  return {allocated.value, {exported.bytes}};
}

void start(const Peer& peer) {
  if (!peer.is_running()) {
    throw std::runtime_error("the other process does not start");
  }
  need(peer.start(), "the start of the other process");
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::string us_text(double microseconds) {
  char text[64];
  std::snprintf(text, sizeof(text), microseconds < 1000.0 ? "%.1f us" : "%.0f us", microseconds);
  return text;
}

std::string look(Address address) {
  Bytes64 bytes{};
  if (const Code code = driver().cuMemcpyDtoH_v2(bytes.data(), address, bytes.size()); code != 0) {
    return code_text(code);
  }
  const bool is_same = std::ranges::all_of(bytes, [&](unsigned char byte) { return byte == bytes[0]; });
  return is_same ? std::to_string(bytes[0]) : "mixed";
}

std::vector<std::size_t> sizes_up_to(std::size_t most) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  need(driver().cuMemGetInfo_v2(&free_bytes, &total_bytes), "cuMemGetInfo");
  std::vector<std::size_t> sizes;
  for (std::size_t size = kPage; size <= std::min(most, free_bytes / 2); size *= 8) {
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace tessera::gpu_kit
