#include "device_table.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>
#include <string_view>

namespace tessera::stand_in {
namespace {

// FNV-1a: the same identity in all processes of a machine, from its seed.
UuidBytes make_uuid(const std::string& name) {
  UuidBytes uuid{};
  std::uint64_t hash = 14695981039346656037ULL;
  for (std::size_t round = 0; round < uuid.size(); ++round) {
    for (char letter : name) {
      hash = (hash ^ static_cast<std::uint8_t>(letter)) * 1099511628211ULL;
    }
    hash = (hash ^ round) * 1099511628211ULL;
    uuid[round] = static_cast<std::uint8_t>(hash >> 24);
  }
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0f) | 0x40);
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3f) | 0x80);
  return uuid;
}

// "GPU-5f3b" names the one device whose UUID begins so.
std::optional<Device> find_by_uuid(const std::vector<Device>& all, std::string_view prefix) {
  std::optional<Device> found;
  for (const Device& device : all) {
    if (!device.instance && uuid_text(device.uuid).starts_with(prefix)) {
      if (found) {
        return std::nullopt;
      }
      found = device;
    }
  }
  return found;
}

// "MIG-<uuid>" or "MIG-GPU-<uuid>/<gpu instance>/<compute instance>".
std::optional<Device> find_instance(const std::vector<Device>& all, std::string_view name) {
  for (const Device& device : all) {
    if (device.instance) {
      std::string old_name = "GPU-" + uuid_text(device.gpu_uuid) + "/" + std::to_string(*device.instance) + "/0";
      if (name == uuid_text(device.uuid) || name == old_name) {
        return device;
      }
    }
  }
  return std::nullopt;
}

std::optional<Device> find_entry(const std::vector<Device>& all, std::string_view entry) {
  if (entry.starts_with("MIG-")) {
    return find_instance(all, entry.substr(4));
  }
  if (entry.starts_with("GPU-") && entry.size() > 4) {
    return find_by_uuid(all, entry.substr(4));
  }
  std::size_t number = 0;
  auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
  bool is_number = error == std::errc() && end == entry.data() + entry.size() && !entry.empty();
  return is_number && number < all.size() ? std::optional(all[number]) : std::nullopt;
}

}  // namespace

std::string uuid_text(const UuidBytes& uuid) {
  std::string text;
  for (std::size_t index = 0; index < uuid.size(); ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) {
      text += '-';
    }
    static constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[uuid[index] >> 4];
    text += kDigits[uuid[index] & 15];
  }
  return text;
}

std::vector<Device> all_devices(const Knobs& knobs) {
  std::vector<Device> devices;
  for (int gpu = 0; gpu < knobs.device_count; ++gpu) {
    std::string name = knobs.uuid_seed + "/" + std::to_string(knobs.breaks(Mutation::uuids_equal) ? 0 : gpu);
    if (knobs.breaks(Mutation::uuid_changes)) {
      name += "/" + std::to_string(getpid());
    }
    Device device;
    device.gpu = static_cast<std::uint32_t>(gpu);
    device.gpu_uuid = make_uuid(name);
    device.uuid = device.gpu_uuid;
    device.memory_bytes = knobs.memory_bytes;
    char pci[24];
    std::snprintf(pci, sizeof(pci), "0000:%02X:00.0", 0x40 + gpu);
    device.pci_bus_id = pci;
    auto mig = knobs.mig_instances.find(gpu);
    if (mig == knobs.mig_instances.end()) {
      devices.push_back(device);
      continue;
    }
    for (int instance = 0; instance < mig->second; ++instance) {
      device.instance = instance;
      device.uuid = make_uuid(name + "/" + std::to_string(instance));
      device.memory_bytes = knobs.memory_bytes / static_cast<unsigned>(mig->second);
      devices.push_back(device);
    }
  }
  return devices;
}

std::vector<Device> visible_devices(const std::vector<Device>& all, const char* variable) {
  if (variable == nullptr) {
    // A process has one MIG instance at most, and nothing beside it.
    auto instance = std::ranges::find_if(all, [](const Device& device) { return device.instance.has_value(); });
    return instance == all.end() ? all : std::vector<Device>{*instance};
  }
  std::vector<Device> visible;
  std::set<std::uint32_t> seen;
  std::string_view rest = variable;
  while (!rest.empty()) {
    std::size_t end = std::min(rest.find(','), rest.size());
    std::optional<Device> device = find_entry(all, rest.substr(0, end));
    // The first entry that names nothing ends the list; one that comes twice empties it.
    if (!device) {
      break;
    }
    if (!seen.insert(device->key()).second) {
      return {};
    }
    visible.push_back(*device);
    if (device->instance) {
      return {*device};
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return visible;
}

bool are_peers(const Knobs& knobs, const Device& a, const Device& b) {
  if (a.instance || b.instance) {
    return a.key() == b.key();
  }
  return a.gpu == b.gpu || !knobs.peers || knobs.peers->contains({static_cast<int>(a.gpu), static_cast<int>(b.gpu)});
}

}  // namespace tessera::stand_in
