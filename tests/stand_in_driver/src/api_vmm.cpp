// Virtual memory management: physical memory, addresses and access apart.
#include "virtual_memory.h"

namespace tessera::stand_in {
namespace {

bool is_device(const Driver& driver, const Location& location) {
  return location.type == kLocationDevice && location.id >= 0 &&
         static_cast<std::size_t>(location.id) < driver.devices.size();
}

Result create(Driver& driver, std::uint64_t* handle, std::size_t size, const Properties* properties,
              std::uint64_t flags) {
  bool is_size_right = size > 0 && (size % kPage == 0 || driver.breaks(Mutation::vmm_any_size));
  if (handle == nullptr || properties == nullptr || flags != 0 || !is_size_right || properties->type != kTypePinned ||
      !is_device(driver, properties->location)) {
    return kInvalidValue;
  }
  // Fabric handles need an IMEX channel, which is not here.
  if ((properties->requested_types & kHandleFabric) != 0) {
    return kNotPermitted;
  }
  if ((properties->requested_types & ~kHandlePosixFd) != 0) {
    return kNotSupported;
  }
  std::uint32_t gpu = driver.devices[static_cast<std::size_t>(properties->location.id)].gpu;
  MutexLock lock(driver.mutex);
  std::shared_ptr<PhysicalBlock> block = PhysicalBlock::create(*driver.machine, gpu, round_up(size, kPage));
  if (block == nullptr) {
    return kOutOfMemory;
  }
  driver.machine->count_allocation(1, static_cast<std::int64_t>(block->size_bytes()));
  *handle = add_virtual_allocation(driver, {block, properties->requested_types, properties->location.id, 1});
  return kSuccess;
}

Result map(Driver& driver, std::uint64_t address, std::size_t size, std::size_t offset, std::uint64_t handle) {
  MutexLock lock(driver.mutex);
  auto found = driver.virtual_allocations.find(handle);
  bool is_reserved = driver.space.reservation_around(address, size).has_value();
  if (offset != 0 || size == 0 || size % kPage != 0 || address % kPage != 0 ||
      found == driver.virtual_allocations.end() || size > found->second.block->size_bytes() ||
      (!is_reserved && !driver.breaks(Mutation::vmm_reservation_any)) || driver.space.overlaps_mapping(address, size)) {
    return kInvalidValue;
  }
  Mapping mapping;
  mapping.address = address;
  mapping.size_bytes = size;
  mapping.block = found->second.block;
  mapping.kind = Kind::kVirtual;
  mapping.buffer_id = driver.next_id();
  mapping.handle = handle;
  mapping.ordinal = found->second.ordinal;
  mapping.requested_types = found->second.requested_types;
  mapping.access.assign(driver.devices.size(), driver.breaks(Mutation::vmm_access_at_once) ? 3 : 0);
  driver.space.mappings[address] = std::move(mapping);
  return kSuccess;
}

// The VMM mappings that make up a range exactly; none if they do not.
std::vector<Mapping*> mappings_of(Driver& driver, std::uint64_t address, std::size_t size)
    TESSERA_REQUIRES(driver.mutex) {
  std::vector<Mapping*> found;
  while (size > 0) {
    Mapping* mapping = driver.space.find_mapping(address);
    if (mapping == nullptr || mapping->kind != Kind::kVirtual || mapping->address != address ||
        mapping->size_bytes > size) {
      return {};
    }
    found.push_back(mapping);
    address += mapping->size_bytes;
    size -= mapping->size_bytes;
  }
  return found;
}

Result unmap(Driver& driver, std::uint64_t address, std::size_t size) {
  for (const auto& context : driver.contexts) {
    context->synchronize();
  }
  MutexLock lock(driver.mutex);
  std::vector<Mapping*> mappings = mappings_of(driver, address, size);
  if (mappings.empty()) {
    return driver.breaks(Mutation::vmm_half_unmap) ? kSuccess : kInvalidValue;
  }
  for (const Mapping* mapping : mappings) {
    driver.space.mappings.erase(std::uint64_t(mapping->address));
  }
  return kSuccess;
}

}  // namespace

TESSERA_STAND_IN_EXPORT int cuMemGetAllocationGranularity(std::size_t* bytes, const Properties* properties,
                                                          int option) {
  return call(Function::cuMemGetAllocationGranularity, Needs::kInit, [&](Driver& driver) -> Result {
    if (bytes == nullptr || properties == nullptr || option < 0 || option > 1 ||
        !is_device(driver, properties->location)) {
      return kInvalidValue;
    }
    *bytes = kPage;
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuMemCreate(std::uint64_t* handle, std::size_t size, const Properties* properties,
                                        std::uint64_t flags) {
  return call(Function::cuMemCreate, Needs::kInit,
              [&](Driver& driver) { return create(driver, handle, size, properties, flags); });
}

TESSERA_STAND_IN_EXPORT int cuMemRelease(std::uint64_t handle) {
  return call(Function::cuMemRelease, Needs::kInit, [&](Driver& driver) -> Result {
    MutexLock lock(driver.mutex);
    auto found = driver.virtual_allocations.find(handle);
    if (found == driver.virtual_allocations.end()) {
      return kInvalidValue;
    }
    if (--found->second.references == 0) {
      driver.machine->count_allocation(-1, -static_cast<std::int64_t>(found->second.block->size_bytes()));
      driver.virtual_allocations.erase(found);
      if (driver.breaks(Mutation::vmm_release_frees)) {
        std::erase_if(driver.space.mappings, [&](const auto& entry) { return entry.second.handle == handle; });
      }
    }
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuMemAddressReserve(std::uint64_t* address, std::size_t size, std::size_t alignment,
                                                std::uint64_t /*wish*/, std::uint64_t flags) {
  return call(Function::cuMemAddressReserve, Needs::kInit, [&](Driver& driver) -> Result {
    if (address == nullptr || size == 0 || size % kPage != 0 || flags != 0 || alignment > kPage) {
      return kInvalidValue;
    }
    MutexLock lock(driver.mutex);
    *address = driver.space.reserve(size);
    return *address == 0 ? kOutOfMemory : kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuMemAddressFree(std::uint64_t address, std::size_t size) {
  return call(Function::cuMemAddressFree, Needs::kInit, [&](Driver& driver) -> Result {
    MutexLock lock(driver.mutex);
    if (size == 0 || driver.space.reservation(address) != size || driver.space.overlaps_mapping(address, size)) {
      return kInvalidValue;
    }
    driver.space.unreserve(address);
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuMemMap(std::uint64_t address, std::size_t size, std::size_t offset, std::uint64_t handle,
                                     std::uint64_t flags) {
  return call(Function::cuMemMap, Needs::kInit,
              [&](Driver& driver) { return flags != 0 ? kInvalidValue : map(driver, address, size, offset, handle); });
}

TESSERA_STAND_IN_EXPORT int cuMemUnmap(std::uint64_t address, std::size_t size) {
  return call(Function::cuMemUnmap, Needs::kInit, [&](Driver& driver) { return unmap(driver, address, size); });
}

TESSERA_STAND_IN_EXPORT int cuMemSetAccess(std::uint64_t address, std::size_t size, const Access* accesses,
                                           std::size_t count) {
  return call(Function::cuMemSetAccess, Needs::kInit, [&](Driver& driver) -> Result {
    MutexLock lock(driver.mutex);
    std::vector<Mapping*> mappings = mappings_of(driver, address, size);
    if (accesses == nullptr || count == 0 || mappings.empty()) {
      return kInvalidValue;
    }
    for (std::size_t index = 0; index < count; ++index) {
      const Access& access = accesses[index];
      if (!is_device(driver, access.location) || (access.flags != 0 && access.flags != 1 && access.flags != 3)) {
        return kInvalidValue;
      }
      for (Mapping* mapping : mappings) {
        mapping->access[static_cast<std::size_t>(access.location.id)] = access.flags;
      }
    }
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuMemRetainAllocationHandle(std::uint64_t* handle, void* address) {
  return call(Function::cuMemRetainAllocationHandle, Needs::kInit, [&](Driver& driver) -> Result {
    MutexLock lock(driver.mutex);
    const Mapping* mapping = driver.space.find_mapping(reinterpret_cast<std::uint64_t>(address));
    if (handle == nullptr || mapping == nullptr || mapping->kind != Kind::kVirtual) {
      return kInvalidValue;
    }
    auto found = driver.virtual_allocations.find(mapping->handle);
    if (found == driver.virtual_allocations.end()) {
      // All its handles were released; the mapping has kept the memory.
      driver.machine->count_allocation(1, static_cast<std::int64_t>(mapping->block->size_bytes()));
      driver.virtual_allocations[mapping->handle] = {mapping->block, mapping->requested_types, mapping->ordinal, 1};
    } else {
      ++found->second.references;
    }
    *handle = mapping->handle;
    return kSuccess;
  });
}

}  // namespace tessera::stand_in
