#include "memory.h"

#include <cstdlib>
#include <cstring>

namespace tessera::stand_in {
namespace {

constexpr std::uint64_t kAlignment = 512;
constexpr std::uint64_t kSmall = std::uint64_t{1} << 20;

// A gap for a small allocation in the pages that there are.
std::uint64_t find_gap(Driver& driver, Context& context, std::uint64_t size, Kind kind) TESSERA_REQUIRES(driver.mutex) {
  AddressSpace& space = driver.space;
  for (const auto& [address, mapping] : space.mappings) {
    if (!mapping.is_shared || mapping.context != &context || mapping.kind != kind) {
      continue;
    }
    std::uint64_t candidate = address;
    for (auto entry = space.allocations.lower_bound(address);
         entry != space.allocations.end() && entry->first < address + mapping.size_bytes; ++entry) {
      if (entry->first - candidate >= size) {
        break;
      }
      candidate = entry->first + round_up(entry->second.size_bytes, kAlignment);
    }
    if (address + mapping.size_bytes - candidate >= size) {
      return candidate;
    }
  }
  return 0;
}

std::uint64_t new_page(Driver& driver, Context& context, std::uint64_t size, Kind kind) TESSERA_REQUIRES(driver.mutex) {
  std::shared_ptr<PhysicalBlock> block =
      PhysicalBlock::create(*driver.machine, driver.devices[context.ordinal()].gpu, round_up(size, kPage));
  return block == nullptr ? 0 : map_block(driver, context, block, kind);
}

}  // namespace

std::uint64_t map_block(Driver& driver, Context& context, const std::shared_ptr<PhysicalBlock>& block, Kind kind)
    TESSERA_REQUIRES(driver.mutex) {
  std::uint64_t address = kind == Kind::kManaged ? reinterpret_cast<std::uint64_t>(block->bytes())
                                                 : driver.space.reserve(block->size_bytes());
  if (address != 0) {
    Mapping mapping;
    mapping.address = address;
    mapping.size_bytes = block->size_bytes();
    mapping.block = block;
    mapping.kind = kind;
    mapping.context = &context;
    driver.space.mappings[address] = std::move(mapping);
  }
  return address;
}

std::optional<std::uint64_t> allocate(Driver& driver, Context& context, std::uint64_t size_bytes, Kind kind) {
  if (size_bytes > driver.knobs.memory_bytes && !driver.breaks(Mutation::alloc_without_end)) {
    return std::nullopt;
  }
  MutexLock lock(driver.mutex);
  Allocation allocation;
  bool is_small = size_bytes <= kSmall && kind != Kind::kManaged;
  if (is_small) {
    allocation.address = find_gap(driver, context, size_bytes, kind);
  }
  if (allocation.address == 0) {
    allocation.address = new_page(driver, context, size_bytes, kind);
    if (allocation.address == 0) {
      return std::nullopt;
    }
    driver.space.mappings[allocation.address].is_shared = is_small;
  }
  allocation.size_bytes = size_bytes;
  allocation.kind = kind;
  allocation.ordinal = static_cast<int>(context.ordinal());
  allocation.context = &context;
  allocation.buffer_id = driver.breaks(Mutation::buffer_id_returns) ? 1 : driver.next_id();
  allocation.mapping = driver.space.find_mapping(allocation.address)->address;
  driver.space.allocations[allocation.address] = allocation;
  driver.machine->count_allocation(1, static_cast<std::int64_t>(size_bytes));
  return allocation.address;
}

void Driver::drop(Allocation& allocation) {
  std::int64_t size = -static_cast<std::int64_t>(allocation.size_bytes);
  if (allocation.kind == Kind::kImported) {
    machine->count_mapping(-1, size);
  } else {
    machine->count_allocation(-1, size);
  }
  if (allocation.kind == Kind::kHost) {
    std::free(reinterpret_cast<void*>(allocation.address));  // NOLINT
    space.allocations.erase(allocation.address);
    return;
  }
  Mapping& mapping = space.mappings[allocation.mapping];
  if (allocation.export_index && !breaks(Mutation::handle_lives_again)) {
    machine->remove_export(*allocation.export_index);
  }
  if (allocation.kind != Kind::kImported && (knobs.poison || breaks(Mutation::free_takes_from_importer))) {
    std::memset(mapping.block->bytes() + (allocation.address - mapping.address), knobs.poison.value_or(0xdd),
                allocation.size_bytes);
  }
  std::uint64_t begin = mapping.address;
  std::uint64_t end = begin + mapping.size_bytes;
  space.allocations.erase(allocation.address);
  auto other = space.allocations.lower_bound(begin);
  if (other == space.allocations.end() || other->first >= end) {
    space.unreserve(begin);
    space.mappings.erase(begin);
  }
}

}  // namespace tessera::stand_in
