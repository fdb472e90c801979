#include "physical_block.h"

#include <sys/mman.h>

#include <optional>

#include "tessera/base/unique_fd.h"

namespace tessera::stand_in {

std::shared_ptr<PhysicalBlock> PhysicalBlock::create(Machine& machine, std::uint32_t gpu, std::uint64_t size_bytes) {
  std::optional<std::uint32_t> block = machine.create_block(gpu, size_bytes);
  return block ? adopt(machine, *block) : nullptr;
}

std::shared_ptr<PhysicalBlock> PhysicalBlock::adopt(Machine& machine, std::uint32_t block) {
  BlockRecord record = machine.block(block);
  UniqueFd fd = UniqueFd::adopt(machine.open_block(block));
  void* mapped = MAP_FAILED;
  if (fd.is_open()) {
    mapped = mmap(nullptr, record.size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.value(), 0);
  }
  if (mapped == MAP_FAILED) {
    machine.release_block(block);
    return nullptr;
  }
  return std::make_shared<PhysicalBlock>(machine, block, record, static_cast<std::byte*>(mapped));
}

PhysicalBlock::~PhysicalBlock() {
  munmap(bytes_, record_.size_bytes);
  machine_.release_block(block_);
}

}  // namespace tessera::stand_in
