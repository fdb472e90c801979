// P6 to P8: how long opening, allocating and copying take.
#include <unistd.h>

#include <algorithm>

#include "probes/probe.h"
#include "virtual_memory.h"

namespace tessera::gpu_kit {
namespace {

constexpr int kCopies = 21;
constexpr std::size_t kMostBytes = std::size_t{64} << 30U;

// KIT_MAX_BYTES bounds these sizes only if somebody set it: they may be larger than the arrays of the table.
std::vector<std::size_t> sizes() {
  return sizes_up_to(variable_or("KIT_MAX_BYTES", "").empty() ? kMostBytes : most_bytes());
}

void time_legacy_open(const Peer& peer, std::size_t size_bytes, Rows& rows) {
  const PeerExport exported = export_from(peer, size_bytes, 1);
  Address address = 0;
  Address second = 0;
  Code code = 0;
  const double open_us = time_us([&] { code = driver().cuIpcOpenMemHandle_v2(&address, exported.handle, 1); });
  need(code, "cuIpcOpenMemHandle");
  const double again_us = time_us([&] { code = driver().cuIpcOpenMemHandle_v2(&second, exported.handle, 1); });
  need(code, "cuIpcOpenMemHandle");
  const double close_again_us = time_us([&] { driver().cuIpcCloseMemHandle(second); });
  const double close_us = time_us([&] { driver().cuIpcCloseMemHandle(address); });
  const double reopen_us = time_us([&] { code = driver().cuIpcOpenMemHandle_v2(&address, exported.handle, 1); });
  need(code, "cuIpcOpenMemHandle");
  driver().cuIpcCloseMemHandle(address);
  need(peer.ask({.order = Order::kFree, .a = exported.address}).code, "cuMemFree");
  rows.answer("P6 legacy " + size_text(size_bytes),
              "open " + us_text(open_us) + ", again while open " + us_text(again_us) + ", close " + us_text(close_us) +
                  ", open once more " + us_text(reopen_us),
              {{"bytes", size_bytes},
               {"open_us", open_us},
               {"open_again_us", again_us},
               {"close_again_us", close_again_us},
               {"close_us", close_us},
               {"reopen_us", reopen_us}});
}

void time_virtual_import(const Peer& peer, std::size_t size_bytes, Rows& rows) {
  const Reply created = peer.ask({.order = Order::kCreateVirtual, .a = size_bytes, .b = 1});
  need(created.code, "cuMemCreate of the other process");
  std::vector<double> all;
  for (int round = 0; round < 2; ++round) {
    VirtualMemory memory;
    Code code = 0;
    all.push_back(time_us([&] {
      std::uint64_t handle = 0;
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver has it so
      void* const descriptor = reinterpret_cast<void*>(static_cast<std::uintptr_t>(created.fd));
      code = driver().cuMemImportFromShareableHandle(&handle, descriptor, kDescriptorType);
      if (code == 0) {
        memory.adopt(handle, size_bytes, 0);
        code = memory.map(3);
      }
    }));
    need(code, "the import of a descriptor");
  }
  ::close(created.fd);
  rows.answer("P6 VMM " + size_text(size_bytes),
              "import, map and access " + us_text(all[0]) + ", once more " + us_text(all[1]),
              {{"bytes", size_bytes}, {"import_us", all[0]}, {"again_us", all[1]}});
}

}  // namespace

void probe_open_times(Rows& rows) {
  enter_gpu();
  const Peer peer;
  start(peer);
  for (const std::size_t size_bytes : sizes()) {
    time_legacy_open(peer, size_bytes, rows);
    time_virtual_import(peer, size_bytes, rows);
  }
}

void probe_allocation_times(Rows& rows) {
  enter_gpu();
  for (const std::size_t size_bytes : sizes()) {
    Address address = 0;
    Code code = 0;
    const double allocate_us = time_us([&] { code = driver().cuMemAlloc_v2(&address, size_bytes); });
    need(code, "cuMemAlloc");
    const double free_us = time_us([&] { driver().cuMemFree_v2(address); });
    double create_us = 0.0;
    double map_us = 0.0;
    {
      VirtualMemory memory;
      create_us = time_us([&] { code = memory.create(size_bytes, 0); });
      need(code, "cuMemCreate");
      map_us = time_us([&] { code = memory.map(3); });
      need(code, "cuMemMap and cuMemSetAccess");
    }
    rows.answer("P7 " + size_text(size_bytes),
                "cuMemAlloc " + us_text(allocate_us) + ", cuMemFree " + us_text(free_us) + ", cuMemCreate " +
                    us_text(create_us) + ", reserve, map and access " + us_text(map_us),
                {{"bytes", size_bytes},
                 {"alloc_us", allocate_us},
                 {"free_us", free_us},
                 {"create_us", create_us},
                 {"map_us", map_us}});
  }
}

void probe_copy_times(Rows& rows) {
  enter_gpu();
  const Peer peer;
  start(peer);
  const std::size_t most = std::min(most_bytes(), sizes().empty() ? kPage : sizes().back());
  const PeerExport exported = export_from(peer, most, 1);
  const OwnMemory source(most);
  const OwnMemory target(most);
  Address imported = 0;
  need(driver().cuIpcOpenMemHandle_v2(&imported, exported.handle, 1), "cuIpcOpenMemHandle");
  const auto copy_us = [&target](Address from, std::size_t size_bytes) {
    std::vector<double> all;
    all.reserve(kCopies);
    for (int i = 0; i < kCopies; ++i) {
      all.push_back(time_us([&] {
        driver().cuMemcpyDtoDAsync_v2(target.address(), from, size_bytes, nullptr);
        driver().cuStreamSynchronize(nullptr);
      }));
    }
    return median(std::move(all));
  };
  for (std::size_t size_bytes = 8; size_bytes <= most; size_bytes *= 32) {
    const double own_us = copy_us(source.address(), size_bytes);
    const double imported_us = copy_us(imported, size_bytes);
    const double own_gb_per_s = static_cast<double>(size_bytes) / own_us / 1e3;
    const double imported_gb_per_s = static_cast<double>(size_bytes) / imported_us / 1e3;
    rows.answer("P8 copy of " + size_text(size_bytes),
                "own memory " + us_text(own_us) + ", imported " + us_text(imported_us) + " (" +
                    std::to_string(static_cast<int>(own_gb_per_s)) + " and " +
                    std::to_string(static_cast<int>(imported_gb_per_s)) + " GB/s)",
                {{"bytes", size_bytes}, {"own_us", own_us}, {"imported_us", imported_us}});
  }
  driver().cuIpcCloseMemHandle(imported);
}

}  // namespace tessera::gpu_kit
