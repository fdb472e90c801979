// Virtual memory as a file descriptor for other processes.
#include <fcntl.h>
#include <sys/stat.h>

#include "virtual_memory.h"

namespace tessera::stand_in {
namespace {

// A descriptor of its own, with a shared lock that tells the machine that it lives.
int export_descriptor(Driver& driver, const VirtualAllocation& allocation) {
  driver.machine->mark_descriptors(allocation.block->index());
  int fd = driver.machine->open_block(allocation.block->index());
  struct flock lock{};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  if (fd >= 0) {
    fcntl(fd, F_OFD_SETLK, &lock);
  }
  return fd;
}

Result import_descriptor(Driver& driver, std::uint64_t* handle, int fd) {
  struct stat status{};
  if (fstat(fd, &status) != 0) {
    return kInvalidValue;
  }
  MutexLock lock(driver.mutex);
  std::optional<std::uint32_t> index = driver.machine->hold_inode(status.st_ino);
  std::shared_ptr<PhysicalBlock> block = index ? PhysicalBlock::adopt(*driver.machine, *index) : nullptr;
  if (block == nullptr) {
    return kInvalidValue;
  }
  for (std::size_t ordinal = 0; ordinal < driver.devices.size(); ++ordinal) {
    if (driver.devices[ordinal].gpu == block->gpu()) {
      driver.machine->count_allocation(1, static_cast<std::int64_t>(block->size_bytes()));
      *handle = add_virtual_allocation(driver, {block, kHandlePosixFd, static_cast<int>(ordinal), 1});
      return kSuccess;
    }
  }
  return driver.knobs.hidden_code;
}

}  // namespace

TESSERA_STAND_IN_EXPORT int cuMemExportToShareableHandle(void* shareable, std::uint64_t handle, int type,
                                                         std::uint64_t flags) {
  return call(Function::cuMemExportToShareableHandle, Needs::kInit, [&](Driver& driver) -> Result {
    MutexLock lock(driver.mutex);
    auto found = driver.virtual_allocations.find(handle);
    if (shareable == nullptr || flags != 0 || found == driver.virtual_allocations.end() ||
        (found->second.requested_types & type) == 0) {
      return kInvalidValue;
    }
    int fd = export_descriptor(driver, found->second);
    if (fd < 0) {
      return kUnknown;
    }
    *static_cast<int*>(shareable) = fd;
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuMemImportFromShareableHandle(std::uint64_t* handle, void* shareable, int type) {
  return call(Function::cuMemImportFromShareableHandle, Needs::kInit, [&](Driver& driver) -> Result {
    if (handle == nullptr) {
      return kInvalidValue;
    }
    if (type != kHandlePosixFd) {
      return kNotSupported;
    }
    return import_descriptor(driver, handle, static_cast<int>(reinterpret_cast<std::uintptr_t>(shareable)));
  });
}

}  // namespace tessera::stand_in
