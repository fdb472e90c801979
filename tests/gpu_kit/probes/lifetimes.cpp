// P10 to P14: who keeps memory, who may write to it, which devices there are.
#include <unistd.h>

#include <stdexcept>

#include "probes/probe.h"
#include "virtual_memory.h"

namespace tessera::gpu_kit {
namespace {

std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  need(driver().cuMemGetInfo_v2(&free, &total), "cuMemGetInfo");
  return free;
}

// Imports a descriptor of a page and maps it.
Code import(int descriptor, VirtualMemory& memory, int access) {
  std::uint64_t handle = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver has it so
  void* const value = reinterpret_cast<void*>(static_cast<std::uintptr_t>(descriptor));
  const Code code = driver().cuMemImportFromShareableHandle(&handle, value, kDescriptorType);
  if (code != 0) {
    return code;
  }
  memory.adopt(handle, kPage, 0);
  return memory.map(access);
}

Reply descriptor_of(const Peer& peer, unsigned char value) {
  const Reply created = peer.ask({.order = Order::kCreateVirtual, .a = kPage, .b = value});
  need(created.code, "cuMemCreate and the export of a descriptor");
  return created;
}

std::string difference_text(std::size_t before, std::size_t after) {
  const auto difference = static_cast<std::int64_t>(after) - static_cast<std::int64_t>(before);
  return (difference < 0 ? "-" : "+") + size_text(static_cast<std::size_t>(difference < 0 ? -difference : difference));
}

}  // namespace

void probe_kept_descriptor(Rows& rows) {
  Peer exporter;
  start(exporter);
  const Reply created = descriptor_of(exporter, 11);
  exporter.kill();
  // Only now does this process, which held the descriptor, start CUDA.
  enter_gpu();
  VirtualMemory memory;
  const Code code = import(created.fd, memory, 3);
  rows.answer(
      "P10 descriptor kept by a process without CUDA while the exporter was killed",
      code == 0 ? "it imports, and the bytes are " + look(memory.address()) + " (11 were written)" : code_text(code));
  ::close(created.fd);
}

void probe_read_only_import(Rows& rows) {
  enter_gpu();
  const Peer exporter;
  start(exporter);
  const Reply created = descriptor_of(exporter, 12);
  VirtualMemory memory;
  const Code code = import(created.fd, memory, 1);
  ::close(created.fd);
  if (code != 0) {
    rows.answer("P11 import to read only", code_text(code));
    return;
  }
  rows.answer("P11 import to read only", "it maps, and the bytes are " + look(memory.address()));
  const Code written = driver().cuMemsetD8_v2(memory.address(), 13, kPage);
  const Code after = driver().cuCtxSynchronize();
  rows.answer("P11 a write to it", "the call gives " + code_text(written) + ", waiting for it " + code_text(after) +
                                       "; then the bytes are " + look(memory.address()));
}

void probe_visible_devices(Rows& rows) {
  for (const char* value : {"", "0", "0,0", "0,9", "9", "GPU-00000000", "none"}) {
    const Peer peer({.environment = {std::string("CUDA_VISIBLE_DEVICES=") + value}});
    if (!peer.is_running()) {
      throw std::runtime_error("the other process does not start");
    }
    const Code code = peer.ask({.order = Order::kInit}).code;
    const Reply devices = peer.ask({.order = Order::kDeviceCount});
    rows.answer(std::string("P12 CUDA_VISIBLE_DEVICES='") + value + "'",
                "cuInit gives " + code_text(code) +
                    (code == 0 ? ", there are " + std::to_string(devices.value) + " devices" : ""));
  }
}

void probe_granularity(Rows& rows) {
  enter_gpu();
  const AllocationProperties properties;
  std::size_t least = 0;
  std::size_t recommended = 0;
  need(driver().cuMemGetAllocationGranularity(&least, &properties, 0), "cuMemGetAllocationGranularity");
  need(driver().cuMemGetAllocationGranularity(&recommended, &properties, 1), "cuMemGetAllocationGranularity");
  rows.answer("P13 granularity of VMM memory",
              "at least " + size_text(least) + ", recommended " + size_text(recommended),
              {{"minimum", least}, {"recommended", recommended}});
}

void probe_freed_while_imported(Rows& rows) {
  constexpr std::size_t kBytes = 16 * kPage;
  enter_gpu();
  const Peer peer;
  start(peer);
  // The first allocation of a process may take more than its bytes.
  need(peer.ask({.order = Order::kFree, .a = export_from(peer, kPage, 1).address}).code, "cuMemFree");
  const std::size_t at_first = free_bytes();
  const PeerExport exported = export_from(peer, kBytes, 14);
  Address opened = 0;
  need(driver().cuIpcOpenMemHandle_v2(&opened, exported.handle, 1), "cuIpcOpenMemHandle");
  const std::size_t while_open = free_bytes();
  need(peer.ask({.order = Order::kFree, .a = exported.address}).code, "cuMemFree");
  const std::size_t freed = free_bytes();
  const std::string bytes = look(opened);
  driver().cuIpcCloseMemHandle(opened);
  const std::size_t closed = free_bytes();
  rows.answer("P14 free memory of the GPU after " + size_text(kBytes) + " were exported and opened",
              difference_text(at_first, while_open));
  rows.answer("P14 after the exporter freed it", difference_text(at_first, freed) + "; the importer reads " + bytes);
  rows.answer("P14 after the importer closed it", difference_text(at_first, closed));
}

}  // namespace tessera::gpu_kit
