#include "address_space.h"

#include <sys/mman.h>

#include <algorithm>

namespace tessera::stand_in {

AddressSpace::AddressSpace(std::uint64_t limit_bytes) {
  void* arena = mmap(nullptr, limit_bytes + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena != MAP_FAILED) {
    base_ = round_up(reinterpret_cast<std::uint64_t>(arena), kPage);
    limit_ = limit_bytes;
  }
}

std::uint64_t AddressSpace::reserve(std::uint64_t size_bytes) {
  if (size_bytes > limit_) {
    return 0;
  }
  std::uint64_t size = round_up(size_bytes, kPage);
  std::uint64_t candidate = base_;
  for (const auto& [address, reserved] : reservations_) {
    if (address - candidate >= size) {
      break;
    }
    candidate = address + reserved;
  }
  if (candidate - base_ > limit_ || limit_ - (candidate - base_) < size) {
    return 0;
  }
  reservations_[candidate] = size;
  return candidate;
}

void AddressSpace::unreserve(std::uint64_t address) {
  reservations_.erase(address);
}

std::uint64_t AddressSpace::reservation(std::uint64_t address) const {
  auto found = reservations_.find(address);
  return found == reservations_.end() ? 0 : found->second;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> AddressSpace::reservation_around(std::uint64_t address,
                                                                                        std::uint64_t size) const {
  auto after = reservations_.upper_bound(address);
  if (after == reservations_.begin()) {
    return std::nullopt;
  }
  auto [begin, reserved] = *std::prev(after);
  std::uint64_t offset = address - begin;
  return offset <= reserved && size <= reserved - offset ? std::optional(std::pair(begin, reserved)) : std::nullopt;
}

Mapping* AddressSpace::find_mapping(std::uint64_t address) {
  auto after = mappings.upper_bound(address);
  if (after == mappings.begin()) {
    return nullptr;
  }
  Mapping& mapping = std::prev(after)->second;
  return address - mapping.address < mapping.size_bytes ? &mapping : nullptr;
}

bool AddressSpace::overlaps_mapping(std::uint64_t address, std::uint64_t size_bytes) {
  auto after = mappings.lower_bound(address);
  return find_mapping(address) != nullptr || (after != mappings.end() && after->first - address < size_bytes);
}

Allocation* AddressSpace::find_allocation(std::uint64_t address) {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) {
    return nullptr;
  }
  Allocation& allocation = std::prev(after)->second;
  return address - allocation.address < allocation.size_bytes ? &allocation : nullptr;
}

std::optional<std::vector<Segment>> AddressSpace::translate(std::uint64_t address, std::uint64_t size_bytes,
                                                            std::size_t ordinal, bool is_write) {
  std::vector<Segment> segments;
  while (size_bytes > 0) {
    Mapping* mapping = find_mapping(address);
    // Only VMM puts mappings side by side that belong together.
    if (mapping == nullptr || (!segments.empty() && mapping->kind != Kind::kVirtual)) {
      return std::nullopt;
    }
    if (mapping->kind == Kind::kVirtual) {
      int access = ordinal < mapping->access.size() ? mapping->access[ordinal] : 0;
      if (access == 0 || (is_write && access != 3)) {
        return std::nullopt;
      }
    }
    std::uint64_t offset = address - mapping->address;
    std::uint64_t here = std::min(size_bytes, mapping->size_bytes - offset);
    segments.push_back({mapping->block->bytes() + offset, here, mapping->block});
    address += here;
    size_bytes -= here;
  }
  return segments;
}

}  // namespace tessera::stand_in
