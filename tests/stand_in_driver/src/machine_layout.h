// The file of a machine: tables of records. For the sources of Machine alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "machine.h"

namespace tessera::stand_in {

struct Machine::Layout {
  std::uint64_t next_serial;
  std::uint32_t block_end;
  std::uint32_t export_end;
  std::uint32_t holder_end;
  std::uint32_t process_end;
  ProcessRecord processes[kProcesses];
  BlockRecord blocks[kBlocks];
  ExportRecord exports[kExports];
  HolderRecord holders[kHolders];
};

// A free record of a table, whose used part may grow by one.
template <typename Record, std::size_t size>
std::optional<std::uint32_t> find_free(Record (&table)[size], std::uint32_t& end) {
  for (std::uint32_t index = 0; index < end; ++index) {
    if (table[index].is_used == 0) {
      return index;
    }
  }
  if (end == size) {
    return std::nullopt;
  }
  return end++;
}

template <typename Record>
void shrink(Record* table, std::uint32_t& end) {
  while (end > 0 && table[end - 1].is_used == 0) {
    --end;
  }
}

// A record becomes valid with the last write, so that a process that dies before it leaves nothing.
inline void publish(std::uint32_t& flag) {
  std::atomic_ref<std::uint32_t>(flag).store(1, std::memory_order_release);
}

}  // namespace tessera::stand_in
