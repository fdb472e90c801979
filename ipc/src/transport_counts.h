// TransportCounters as they are counted: by many threads.
#pragma once

#include <atomic>
#include <cstdint>

#include "tessera/ipc/gpu_system.h"

namespace tessera {

/// Safe to use from any thread.
struct TransportCounts {
  std::atomic<std::uint64_t> exports_in_place{0};
  std::atomic<std::uint64_t> exports_staged{0};
  std::atomic<std::uint64_t> foreign_handles_taken{0};  ///< the pools count their own
  std::atomic<std::uint64_t> handles_opened{0};
  std::atomic<std::uint64_t> handles_closed{0};
  std::atomic<std::uint64_t> mapping_hits{0};
  std::atomic<std::uint64_t> stale_mappings{0};
  std::atomic<std::uint64_t> imports_copied{0};
  std::atomic<std::uint64_t> imports_borrowed{0};
  std::atomic<std::uint64_t> imports_same_process{0};
  std::atomic<std::uint64_t> copies_to_host{0};
  std::atomic<std::uint64_t> copies_to_host_bytes{0};
  std::atomic<std::uint64_t> mapped_bytes{0};
  std::atomic<std::uint64_t> exhaustions{0};

  /// All but handles_taken of the pools.
  [[nodiscard]] TransportCounters read() const {
    TransportCounters counters;
    counters.exports_in_place = exports_in_place;
    counters.exports_staged = exports_staged;
    counters.handles_taken = foreign_handles_taken;
    counters.handles_opened = handles_opened;
    counters.handles_closed = handles_closed;
    counters.mapping_hits = mapping_hits;
    counters.stale_mappings = stale_mappings;
    counters.imports_copied = imports_copied;
    counters.imports_borrowed = imports_borrowed;
    counters.imports_same_process = imports_same_process;
    counters.copies_to_host = copies_to_host;
    counters.copies_to_host_bytes = copies_to_host_bytes;
    counters.mapped_bytes = mapped_bytes;
    counters.exhaustions = exhaustions;
    return counters;
  }
};

}  // namespace tessera
