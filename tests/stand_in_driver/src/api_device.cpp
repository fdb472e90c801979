// What there is to know about the GPUs.
#include <cstdio>
#include <cstring>
#include <map>

#include "driver.h"

namespace tessera::stand_in {
namespace {

const Device* find_device(const Driver& driver, int device) {
  return device >= 0 && static_cast<std::size_t>(device) < driver.devices.size()
             ? &driver.devices[static_cast<std::size_t>(device)]
             : nullptr;
}

// Those of an H200 that clients ask for; the rest is 0, which says "not supported".
int attribute_of(const Driver& driver, const Device& device, int attribute) {
  static const std::map<int, int> kAttributes = {
      {1, 1024},  // threads per block
      {10, 32},   // warp size
      {16, 132},  // multiprocessors
      {34, 0},    // PCI device
      {41, 1},    // unified addressing
      {75, 9},    // compute capability 9.0
      {76, 0},    //
      {83, 1},    // managed memory
      {102, 1},   // virtual memory management
      {103, 1},   // POSIX file descriptors
      {115, 1},   // memory pools
      {119, 1},   // their handle types
      {125, 1},   // IPC events
  };
  if (auto given = driver.knobs.attributes.find(attribute); given != driver.knobs.attributes.end()) {
    return given->second;
  }
  if (attribute == 20) {
    return driver.knobs.compute_mode;
  }
  if (attribute == 33) {
    return 0x40 + static_cast<int>(device.gpu);
  }
  auto found = kAttributes.find(attribute);
  return found == kAttributes.end() ? 0 : found->second;
}

Result give_uuid(const Driver& driver, unsigned char* uuid, int device, bool is_of_instance) {
  const Device* found = find_device(driver, device);
  if (uuid == nullptr) {
    return kInvalidValue;
  }
  if (found == nullptr) {
    return kInvalidDevice;
  }
  std::memcpy(uuid, (is_of_instance ? found->uuid : found->gpu_uuid).data(), found->uuid.size());
  return kSuccess;
}

}  // namespace

TESSERA_STAND_IN_EXPORT int cuDeviceGetCount(int* count) {
  return call(Function::cuDeviceGetCount, Needs::kInit, [&](Driver& driver) -> Result {
    if (count == nullptr) {
      return kInvalidValue;
    }
    *count = static_cast<int>(driver.devices.size());
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuDeviceGet(int* device, int ordinal) {
  return call(Function::cuDeviceGet, Needs::kInit, [&](Driver& driver) -> Result {
    if (device == nullptr) {
      return kInvalidValue;
    }
    if (find_device(driver, ordinal) == nullptr && !driver.breaks(Mutation::any_ordinal)) {
      return kInvalidDevice;
    }
    *device = ordinal;
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuDeviceGetName(char* name, int length, int device) {
  return call(Function::cuDeviceGetName, Needs::kInit, [&](Driver& driver) -> Result {
    const Device* found = find_device(driver, device);
    if (name == nullptr || length <= 0) {
      return kInvalidValue;
    }
    if (found == nullptr) {
      return kInvalidDevice;
    }
    std::snprintf(name, static_cast<std::size_t>(length), "Stand-in GPU%s", found->instance ? " MIG" : "");
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuDeviceGetUuid(unsigned char* uuid, int device) {
  return call(Function::cuDeviceGetUuid, Needs::kInit,
              [&](Driver& driver) { return give_uuid(driver, uuid, device, false); });
}

TESSERA_STAND_IN_EXPORT int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  return call(Function::cuDeviceGetUuid_v2, Needs::kInit,
              [&](Driver& driver) { return give_uuid(driver, uuid, device, true); });
}

TESSERA_STAND_IN_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return call(Function::cuDeviceGetAttribute, Needs::kInit, [&](Driver& driver) -> Result {
    const Device* found = find_device(driver, device);
    if (value == nullptr || attribute <= 0 || attribute > 200) {
      return kInvalidValue;
    }
    if (found == nullptr) {
      return kInvalidDevice;
    }
    *value = attribute_of(driver, *found, attribute);
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return call(Function::cuDeviceTotalMem_v2, Needs::kInit, [&](Driver& driver) -> Result {
    const Device* found = find_device(driver, device);
    if (bytes == nullptr) {
      return kInvalidValue;
    }
    if (found == nullptr) {
      return kInvalidDevice;
    }
    *bytes = found->memory_bytes;
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuDeviceGetPCIBusId(char* text, int length, int device) {
  return call(Function::cuDeviceGetPCIBusId, Needs::kInit, [&](Driver& driver) -> Result {
    const Device* found = find_device(driver, device);
    if (text == nullptr || length <= 0) {
      return kInvalidValue;
    }
    if (found == nullptr) {
      return kInvalidDevice;
    }
    std::snprintf(text, static_cast<std::size_t>(length), "%s", found->pci_bus_id.c_str());
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuDeviceGetByPCIBusId(int* device, const char* text) {
  return call(Function::cuDeviceGetByPCIBusId, Needs::kInit, [&](Driver& driver) -> Result {
    if (device == nullptr || text == nullptr) {
      return kInvalidValue;
    }
    // domain:bus:device.function, domain:bus:device or bus:device.function
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned number = 0;
    if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &number) != 3) {  // NOLINT(cert-err34-c)
      domain = 0;
      if (std::sscanf(text, "%x:%x", &bus, &number) != 2) {  // NOLINT(cert-err34-c)
        return kInvalidValue;
      }
    }
    for (std::size_t ordinal = 0; ordinal < driver.devices.size(); ++ordinal) {
      if (domain == 0 && number == 0 && bus == 0x40 + driver.devices[ordinal].gpu) {
        *device = static_cast<int>(ordinal);
        return kSuccess;
      }
    }
    return kInvalidDevice;
  });
}

TESSERA_STAND_IN_EXPORT int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  return call(Function::cuDeviceCanAccessPeer, Needs::kInit, [&](Driver& driver) -> Result {
    const Device* a = find_device(driver, device);
    const Device* b = find_device(driver, peer);
    if (can == nullptr) {
      return kInvalidValue;
    }
    if (a == nullptr || b == nullptr) {
      return kInvalidDevice;
    }
    // A GPU is no peer of itself.
    *can = device != peer && are_peers(driver.knobs, *a, *b) ? 1 : 0;
    return kSuccess;
  });
}

}  // namespace tessera::stand_in
