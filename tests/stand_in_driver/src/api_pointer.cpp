// What is known about an address.
#include <cstring>

#include "driver.h"

namespace tessera::stand_in {
namespace {

enum Attribute : int {
  kContext = 1,
  kMemoryType = 2,
  kDevicePointer = 3,
  kHostPointer = 4,
  kSyncMemops = 6,
  kBufferId = 7,
  kIsManaged = 8,
  kDeviceOrdinal = 9,
  kIsLegacyIpcCapable = 10,
  kRangeStart = 11,
  kRangeSize = 12,
  kMapped = 13,
  kAllowedHandleTypes = 14,
  kIsGpuDirectCapable = 15,
  kAccessFlags = 16,
  kMempoolHandle = 17,
  kMappingSize = 18,
  kMappingBase = 19,
  kMemoryBlockId = 20,
};

// The version that brought an attribute.
int version_of(int attribute) {
  if (attribute >= kMappingSize) {
    return 12000;
  }
  if (attribute >= kMempoolHandle) {
    return 11030;
  }
  return attribute >= kIsLegacyIpcCapable ? 11000 : 4000;
}

std::size_t size_of(int attribute) {
  switch (attribute) {
    case kMemoryType:
    case kDeviceOrdinal:
      return 4;
    case kIsManaged:
    case kSyncMemops:
    case kMapped:
    case kIsLegacyIpcCapable:
    case kIsGpuDirectCapable:
      return attribute == kIsManaged || attribute == kSyncMemops ? 4 : 1;
    case kAccessFlags:
      return 4;
    default:
      return 8;
  }
}

// What an address lies in. Both null: the driver knows nothing of it.
struct Known {
  const Allocation* allocation = nullptr;
  const Mapping* mapping = nullptr;
  std::pair<std::uint64_t, std::uint64_t> range;
};

Known find(Driver& driver, std::uint64_t address) TESSERA_REQUIRES(driver.mutex) {
  Known known;
  known.allocation = driver.space.find_allocation(address);
  known.mapping = driver.space.find_mapping(address);
  if (known.allocation != nullptr) {
    known.range = {known.allocation->address, known.allocation->size_bytes};
  } else if (known.mapping != nullptr && known.mapping->kind == Kind::kVirtual) {
    known.range = driver.space.reservation_around(address, 0).value_or(std::pair<std::uint64_t, std::uint64_t>());
  } else {
    known.mapping = nullptr;
  }
  return known;
}

std::uint64_t value_of(Driver& driver, const Known& known, int attribute, std::uint64_t address)
    TESSERA_REQUIRES(driver.mutex) {
  Kind kind = known.allocation != nullptr ? known.allocation->kind : Kind::kVirtual;
  switch (attribute) {
    case kContext:
      return known.allocation != nullptr ? reinterpret_cast<std::uint64_t>(known.allocation->context) : 0;
    case kMemoryType:
      return kind == Kind::kHost ? 1 : 2;
    case kDevicePointer:
      return address;
    case kHostPointer:
      return kind == Kind::kHost || kind == Kind::kManaged ? address : 0;
    case kBufferId:
      return known.allocation != nullptr ? known.allocation->buffer_id : known.mapping->buffer_id;
    case kIsManaged:
      return kind == Kind::kManaged ? 1 : 0;
    case kDeviceOrdinal:
      return static_cast<std::uint64_t>(known.allocation != nullptr ? known.allocation->ordinal
                                                                    : known.mapping->ordinal);
    case kIsLegacyIpcCapable:
      return kind == Kind::kLegacy || driver.breaks(Mutation::legacy_capable_always) ? 1 : 0;
    case kRangeStart:
      return known.range.first;
    case kRangeSize:
      return known.range.second;
    case kMapped:
      return 1;
    case kAllowedHandleTypes:
      return kind == Kind::kVirtual ? static_cast<std::uint64_t>(known.mapping->requested_types) : 0;
    case kAccessFlags:
      return 3;
    case kMempoolHandle:
      return kind == Kind::kPool ? 1 : 0;
    case kMappingSize:
      return known.mapping != nullptr ? known.mapping->size_bytes : known.range.second;
    case kMappingBase:
      return known.mapping != nullptr ? known.mapping->address : known.range.first;
    case kMemoryBlockId:
      return known.mapping != nullptr ? known.mapping->block->inode() : 0;
    default:
      return 0;
  }
}

bool exists(const Driver& driver, int attribute) {
  return attribute >= kContext && attribute <= kMemoryBlockId && version_of(attribute) <= driver.knobs.version;
}

void store(void* place, int attribute, std::uint64_t value) {
  std::memcpy(place, &value, size_of(attribute));
}

}  // namespace

TESSERA_STAND_IN_EXPORT int cuPointerGetAttribute(void* value, int attribute, std::uint64_t address) {
  return call(Function::cuPointerGetAttribute, Needs::kInit, [&](Driver& driver) -> Result {
    if (value == nullptr || !exists(driver, attribute)) {
      return kInvalidValue;
    }
    MutexLock lock(driver.mutex);
    Known known = find(driver, address);
    if (known.allocation == nullptr && known.mapping == nullptr) {
      return kInvalidValue;
    }
    store(value, attribute, value_of(driver, known, attribute, address));
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                                   std::uint64_t address) {
  return call(Function::cuPointerGetAttributes, Needs::kInit, [&](Driver& driver) -> Result {
    if (attributes == nullptr || values == nullptr || count == 0) {
      return kInvalidValue;
    }
    for (unsigned index = 0; index < count; ++index) {
      if (!exists(driver, attributes[index]) || values[index] == nullptr) {
        return kInvalidValue;
      }
    }
    MutexLock lock(driver.mutex);
    Known known = find(driver, address);
    bool is_known = known.allocation != nullptr || known.mapping != nullptr;
    if (!is_known && driver.breaks(Mutation::attributes_fail_together)) {
      return kInvalidValue;
    }
    // For what the driver does not know, all is zero, and the ordinal -2.
    for (unsigned index = 0; index < count; ++index) {
      std::uint64_t unknown = attributes[index] == kDeviceOrdinal ? static_cast<std::uint64_t>(-2) : 0;
      store(values[index], attributes[index], is_known ? value_of(driver, known, attributes[index], address) : unknown);
    }
    return kSuccess;
  });
}

}  // namespace tessera::stand_in
