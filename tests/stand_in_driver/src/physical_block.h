// Physical memory of a GPU, reachable for this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "machine.h"

namespace tessera::stand_in {

/// A hold on a block of the machine, and a mapping of its file that only the driver uses: the device address that a
/// client sees is another. Immutable; shared by all that need the bytes to stay.
class PhysicalBlock {
 public:
  /// New memory. Null if there is not so much left.
  [[nodiscard]] static std::shared_ptr<PhysicalBlock> create(Machine& machine, std::uint32_t gpu,
                                                             std::uint64_t size_bytes);
  /// Takes over a hold that the caller has. Null if the memory cannot be mapped; the hold is gone then too.
  [[nodiscard]] static std::shared_ptr<PhysicalBlock> adopt(Machine& machine, std::uint32_t block);

  PhysicalBlock(Machine& machine, std::uint32_t block, BlockRecord record, std::byte* bytes)
      : machine_(machine), block_(block), record_(record), bytes_(bytes) {}
  PhysicalBlock(const PhysicalBlock&) = delete;
  PhysicalBlock& operator=(const PhysicalBlock&) = delete;
  ~PhysicalBlock();

  [[nodiscard]] std::uint32_t index() const { return block_; }
  [[nodiscard]] std::uint32_t gpu() const { return record_.gpu; }
  [[nodiscard]] std::uint64_t size_bytes() const { return record_.size_bytes; }
  [[nodiscard]] std::byte* bytes() const { return bytes_; }
  /// Unique within the process.
  [[nodiscard]] std::uint64_t inode() const { return record_.inode; }

 private:
  Machine& machine_;
  std::uint32_t block_;
  BlockRecord record_;
  std::byte* bytes_;
};

}  // namespace tessera::stand_in
