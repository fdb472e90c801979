// Allocating, freeing, asking for sizes.
#include <cstdlib>
#include <optional>

#include "memory.h"

namespace tessera::stand_in {
namespace {

Result give(std::uint64_t* address, std::optional<std::uint64_t> allocated) {
  if (!allocated) {
    return kOutOfMemory;
  }
  *address = *allocated;
  return kSuccess;
}

Result free_memory(Driver& driver, Context& context, std::uint64_t address) {
  // Releasing waits for all that runs.
  context.synchronize();
  MutexLock lock(driver.mutex);
  auto found = driver.space.allocations.find(address);
  bool is_known = found != driver.space.allocations.end() && found->second.kind != Kind::kHost &&
                  found->second.kind != Kind::kImported;
  if (!is_known) {
    return driver.breaks(Mutation::unknown_free) ? kSuccess : kInvalidValue;
  }
  if (found->second.context != &context) {
    return kInvalidContext;
  }
  driver.drop(found->second);
  return kSuccess;
}

Result allocate_async(Driver& driver, Context& context, std::uint64_t* address, std::size_t size, void* stream,
                      bool is_per_thread) {
  if (address == nullptr || size == 0) {
    return kInvalidValue;
  }
  if (context.find_stream(stream, is_per_thread) == nullptr) {
    return kInvalidHandle;
  }
  return give(address, allocate(driver, context, size, Kind::kPool));
}

Result free_async(Driver& driver, Context& context, std::uint64_t address, void* stream, bool is_per_thread) {
  std::shared_ptr<Stream> found_stream = context.find_stream(stream, is_per_thread);
  if (found_stream == nullptr) {
    return kInvalidHandle;
  }
  {
    MutexLock lock(driver.mutex);
    auto found = driver.space.allocations.find(address);
    if (found == driver.space.allocations.end() || found->second.kind == Kind::kImported) {
      return kInvalidValue;
    }
  }
  context.submit(found_stream, {}, [&driver, address] {
    MutexLock lock(driver.mutex);
    auto found = driver.space.allocations.find(address);
    if (found != driver.space.allocations.end()) {
      driver.drop(found->second);
    }
  });
  return kSuccess;
}

}  // namespace

TESSERA_STAND_IN_EXPORT int cuMemAlloc_v2(std::uint64_t* address, std::size_t size) {
  return call_in_context(Function::cuMemAlloc_v2, [&](Driver& driver, Context& context) -> Result {
    if (address == nullptr || (size == 0 && !driver.breaks(Mutation::alloc_of_nothing))) {
      return kInvalidValue;
    }
    return give(address, allocate(driver, context, std::max<std::size_t>(size, 1), Kind::kLegacy));
  });
}

TESSERA_STAND_IN_EXPORT int cuMemAllocManaged(std::uint64_t* address, std::size_t size, unsigned flags) {
  return call_in_context(Function::cuMemAllocManaged, [&](Driver& driver, Context& context) -> Result {
    // 1 attaches globally, 2 to the host; a single stream cannot be given here.
    if (address == nullptr || size == 0 || (flags != 1 && flags != 2)) {
      return kInvalidValue;
    }
    return give(address, allocate(driver, context, size, Kind::kManaged));
  });
}

TESSERA_STAND_IN_EXPORT int cuMemAllocAsync(std::uint64_t* address, std::size_t size, void* stream) {
  return call_in_context(Function::cuMemAllocAsync, [&](Driver& driver, Context& context) {
    return allocate_async(driver, context, address, size, stream, false);
  });
}
TESSERA_STAND_IN_EXPORT int cuMemAllocAsync_ptsz(std::uint64_t* address, std::size_t size, void* stream) {
  return call_in_context(Function::cuMemAllocAsync_ptsz, [&](Driver& driver, Context& context) {
    return allocate_async(driver, context, address, size, stream, true);
  });
}
TESSERA_STAND_IN_EXPORT int cuMemFreeAsync(std::uint64_t address, void* stream) {
  return call_in_context(Function::cuMemFreeAsync, [&](Driver& driver, Context& context) {
    return free_async(driver, context, address, stream, false);
  });
}
TESSERA_STAND_IN_EXPORT int cuMemFreeAsync_ptsz(std::uint64_t address, void* stream) {
  return call_in_context(Function::cuMemFreeAsync_ptsz, [&](Driver& driver, Context& context) {
    return free_async(driver, context, address, stream, true);
  });
}

TESSERA_STAND_IN_EXPORT int cuMemFree_v2(std::uint64_t address) {
  return call_in_context(Function::cuMemFree_v2,
                         [&](Driver& driver, Context& context) { return free_memory(driver, context, address); });
}

TESSERA_STAND_IN_EXPORT int cuMemAllocHost_v2(void** pointer, std::size_t size) {
  return call_in_context(Function::cuMemAllocHost_v2, [&](Driver& driver, Context& context) -> Result {
    if (pointer == nullptr || size == 0) {
      return kInvalidValue;
    }
    void* memory = std::aligned_alloc(4096, round_up(size, 4096));
    if (memory == nullptr) {
      return kOutOfMemory;
    }
    MutexLock lock(driver.mutex);
    Allocation allocation;
    allocation.address = reinterpret_cast<std::uint64_t>(memory);
    allocation.size_bytes = size;
    allocation.kind = Kind::kHost;
    allocation.ordinal = static_cast<int>(context.ordinal());
    allocation.context = &context;
    allocation.buffer_id = driver.next_id();
    driver.space.allocations[allocation.address] = allocation;
    driver.machine->count_allocation(1, static_cast<std::int64_t>(size));
    *pointer = memory;
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuMemFreeHost(void* pointer) {
  return call_in_context(Function::cuMemFreeHost, [&](Driver& driver, Context& context) -> Result {
    context.synchronize();
    MutexLock lock(driver.mutex);
    auto found = driver.space.allocations.find(reinterpret_cast<std::uint64_t>(pointer));
    if (found == driver.space.allocations.end() || found->second.kind != Kind::kHost) {
      return kInvalidValue;
    }
    driver.drop(found->second);
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return call_in_context(Function::cuMemGetInfo_v2, [&](Driver& driver, Context& context) -> Result {
    if (free == nullptr || total == nullptr) {
      return kInvalidValue;
    }
    const Device& device = driver.devices[context.ordinal()];
    std::uint64_t used = driver.machine->used_bytes(device.gpu);
    if (driver.breaks(Mutation::info_is_constant)) {
      used = 0;
    }
    *total = device.memory_bytes;
    *free = device.memory_bytes - std::min(device.memory_bytes, used);
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuMemGetAddressRange_v2(std::uint64_t* base, std::size_t* size, std::uint64_t address) {
  return call_in_context(Function::cuMemGetAddressRange_v2, [&](Driver& driver, Context&) -> Result {
    MutexLock lock(driver.mutex);
    std::uint64_t begin = 0;
    std::uint64_t length = 0;
    const Allocation* allocation = driver.space.find_allocation(address);
    const Mapping* mapping = driver.space.find_mapping(address);
    if (allocation != nullptr && !(driver.breaks(Mutation::range_is_block) && mapping != nullptr)) {
      begin = allocation->address;
      length = allocation->size_bytes;
    } else if (mapping != nullptr && (mapping->kind == Kind::kVirtual || driver.breaks(Mutation::range_is_block))) {
      begin = mapping->address;
      length = mapping->size_bytes;
    } else {
      return kNotFound;
    }
    if (base != nullptr) {
      *base = begin;
    }
    if (size != nullptr) {
      *size = length;
    }
    return kSuccess;
  });
}

}  // namespace tessera::stand_in
