// Physical memory: making, holding, giving back.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "machine_layout.h"

namespace tessera::stand_in {

std::string Machine::block_path(const Id& id) const {
  return knobs_.root + "/" + hex(id);
}

void Machine::retire(std::uint32_t block) {
  BlockRecord& record = layout_->blocks[block];
  if (record.has_descriptors != 0 && has_open_descriptor(record)) {
    return;
  }
  unlink(block_path(record.id).c_str());
  record.is_used = 0;
  shrink(layout_->blocks, layout_->block_end);
}

// An exported descriptor carries a shared lock that lives as long as any copy of it, wherever that is.
bool Machine::has_open_descriptor(const BlockRecord& record) const {
  UniqueFd fd = UniqueFd::adopt(open(block_path(record.id).c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return !knobs_.breaks(Mutation::vmm_fd_keeps_nothing) && fd.is_open() && fcntl(fd.value(), F_OFD_GETLK, &lock) == 0 &&
         lock.l_type != F_UNLCK;
}

bool Machine::add_holder(std::uint32_t block) {
  std::optional<std::uint32_t> index = find_free(layout_->holders, layout_->holder_end);
  if (!index) {
    return false;
  }
  HolderRecord& holder = layout_->holders[*index];
  holder.process = self_;
  holder.block = block;
  publish(holder.is_used);
  ++layout_->blocks[block].holders;
  return true;
}

std::optional<std::uint32_t> Machine::create_block(std::uint32_t gpu, std::uint64_t size_bytes) {
  SharedFileLock lock(file_);
  if (sum_used(gpu) + size_bytes > knobs_.memory_bytes) {
    clear_dead();
  }
  bool is_endless = knobs_.breaks(Mutation::alloc_without_end);
  if (size_bytes > knobs_.memory_bytes - std::min(knobs_.memory_bytes, sum_used(gpu)) && !is_endless) {
    return std::nullopt;
  }
  std::optional<std::uint32_t> index = find_free(layout_->blocks, layout_->block_end);
  if (!index) {
    return std::nullopt;
  }
  BlockRecord& record = layout_->blocks[*index];
  record = {.is_used = 0,
            .gpu = gpu,
            .size_bytes = size_bytes,
            .id = random_id(),
            .inode = 0,
            .holders = 0,
            .has_descriptors = 0};
  // Known before its file is there: whoever dies in between leaves a block without holders, which is cleared away.
  publish(record.is_used);
  UniqueFd fd = UniqueFd::adopt(open(block_path(record.id).c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  struct stat status{};
  bool is_made =
      fd.is_open() && ftruncate(fd.value(), static_cast<off_t>(size_bytes)) == 0 && fstat(fd.value(), &status) == 0;
  record.inode = status.st_ino;
  if (!is_made || !add_holder(*index)) {
    retire(*index);
    return std::nullopt;
  }
  return index;
}

int Machine::open_block(std::uint32_t block) {
  SharedFileLock lock(file_);
  return open(block_path(layout_->blocks[block].id).c_str(), O_RDWR | O_CLOEXEC);
}

BlockRecord Machine::block(std::uint32_t block) {
  SharedFileLock lock(file_);
  return layout_->blocks[block];
}

void Machine::release_block(std::uint32_t block) {
  SharedFileLock lock(file_);
  for (std::uint32_t index = 0; index < layout_->holder_end; ++index) {
    HolderRecord& holder = layout_->holders[index];
    if (holder.is_used != 0 && holder.process == self_ && holder.block == block) {
      holder.is_used = 0;
      shrink(layout_->holders, layout_->holder_end);
      if (knobs_.breaks(Mutation::import_is_not_counted)) {
        layout_->blocks[block].size_bytes = 0;
      }
      if (--layout_->blocks[block].holders == 0) {
        retire(block);
      }
      return;
    }
  }
}

void Machine::mark_descriptors(std::uint32_t block) {
  SharedFileLock lock(file_);
  layout_->blocks[block].has_descriptors = 1;
}

std::optional<std::uint32_t> Machine::hold_inode(std::uint64_t inode) {
  SharedFileLock lock(file_);
  for (std::uint32_t index = 0; index < layout_->block_end; ++index) {
    if (layout_->blocks[index].is_used != 0 && layout_->blocks[index].inode == inode) {
      return add_holder(index) ? std::optional(index) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace tessera::stand_in
