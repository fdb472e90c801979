// The device addresses of this process: what is allocated, what is mapped, and where the bytes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "physical_block.h"

namespace tessera::stand_in {

class Context;

inline constexpr std::uint64_t kPage = std::uint64_t{2} << 20;
[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t size, std::uint64_t unit) {
  return (size + unit - 1) / unit * unit;
}

enum class Kind { kLegacy, kImported, kManaged, kPool, kHost, kVirtual };

/// Device addresses with memory behind them.
struct Mapping {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  std::shared_ptr<PhysicalBlock> block;
  Kind kind = Kind::kLegacy;
  Context* context = nullptr;
  bool is_shared = false;  ///< a page of small allocations
  /// VMM: per visible device, 0 none, 1 read, 3 both. Others may be used by all.
  std::vector<int> access;
  std::uint64_t buffer_id = 0;
  // VMM: of the allocation.
  std::uint64_t handle = 0;
  int ordinal = 0;
  int requested_types = 0;
};

/// What a call gave out as one pointer.
struct Allocation {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  Kind kind = Kind::kLegacy;
  int ordinal = -1;
  Context* context = nullptr;
  std::uint64_t buffer_id = 0;
  std::uint64_t mapping = 0;  ///< address of the mapping that it lies in, 0 for host memory
  std::optional<std::uint32_t> export_index;
  Id export_id{};
  // Imported ones.
  int opens = 0;
  Id imported_id{};
  std::uint64_t exporter_serial = 0;
  std::uint64_t exporter_address = 0;
};

/// A stretch of memory that a copy reads or writes.
struct Segment {
  std::byte* bytes = nullptr;
  std::uint64_t size_bytes = 0;
  std::shared_ptr<PhysicalBlock> block;  ///< keeps it there
};

/// Owns no lock: the Driver's mutex guards it. Addresses are numbers that nothing is mapped at, except for managed
/// memory: a client that follows one on the host crashes, as it would with a GPU.
class AddressSpace {
 public:
  /// Reserves the addresses.
  explicit AddressSpace(std::uint64_t limit_bytes);

  /// The lowest free addresses, so that freed ones come back soon. 0 if there are none left.
  [[nodiscard]] std::uint64_t reserve(std::uint64_t size_bytes);
  void unreserve(std::uint64_t address);
  /// Size of a reservation, 0 if there is none that begins there.
  [[nodiscard]] std::uint64_t reservation(std::uint64_t address) const;
  /// The reservation that holds all of a range.
  [[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> reservation_around(std::uint64_t address,
                                                                                          std::uint64_t size) const;
  /// Whether the address is one of a device's, used or not.
  [[nodiscard]] bool is_device_address(std::uint64_t address) const {
    return address >= base_ && address < base_ + limit_;
  }

  [[nodiscard]] Mapping* find_mapping(std::uint64_t address);
  [[nodiscard]] bool overlaps_mapping(std::uint64_t address, std::uint64_t size_bytes);
  [[nodiscard]] Allocation* find_allocation(std::uint64_t address);

  /// Where the bytes of a range are, for a device; nothing if part of them is nowhere, or access was not given.
  [[nodiscard]] std::optional<std::vector<Segment>> translate(std::uint64_t address, std::uint64_t size_bytes,
                                                              std::size_t ordinal, bool is_write);

  std::map<std::uint64_t, Mapping> mappings;
  std::map<std::uint64_t, Allocation> allocations;

 private:
  std::uint64_t base_ = 0;
  std::uint64_t limit_ = 0;
  std::map<std::uint64_t, std::uint64_t> reservations_;
};

}  // namespace tessera::stand_in
