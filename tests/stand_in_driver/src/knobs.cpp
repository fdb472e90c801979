#include "knobs.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tessera::stand_in {
namespace {

std::string text(const char* name, std::string otherwise) {
  const char* value = std::getenv((std::string("TESSERA_STAND_IN_") + name).c_str());  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::move(otherwise) : std::string(value);
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

std::int64_t number(const char* name, std::int64_t otherwise) {
  return parse_number(text(name, "")).value_or(otherwise);
}

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < list.size();) {
    std::size_t end = std::min(list.find(separator, begin), list.size());
    if (end > begin) {
      parts.push_back(list.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return parts;
}

// "0=2,1=3"
std::map<int, int> number_pairs(const char* name, char separator) {
  std::map<int, int> pairs;
  for (const std::string& item : split(text(name, ""), ',')) {
    std::vector<std::string> sides = split(item, separator);
    if (sides.size() == 2) {
      pairs[static_cast<int>(parse_number(sides[0]).value_or(-1))] =
          static_cast<int>(parse_number(sides[1]).value_or(0));
    }
  }
  return pairs;
}

std::optional<std::set<std::pair<int, int>>> peer_pairs() {
  std::string value = text("P2P", "all");
  if (value == "all") {
    return std::nullopt;
  }
  std::set<std::pair<int, int>> peers;
  for (const std::string& item : split(value, ',')) {
    std::vector<std::string> sides = split(item, '-');
    if (sides.size() == 2) {
      int a = static_cast<int>(parse_number(sides[0]).value_or(-1));
      int b = static_cast<int>(parse_number(sides[1]).value_or(-1));
      peers.insert({a, b});
      peers.insert({b, a});
    }
  }
  return peers;
}

Result code(const char* name, Result otherwise) {
  return static_cast<Result>(number(name, otherwise));
}

std::uint64_t mebibytes(const char* name, std::uint64_t otherwise_bytes) {
  std::int64_t count = number(name, -1);
  return count < 0 ? otherwise_bytes : static_cast<std::uint64_t>(count) << 20;
}

}  // namespace

Knobs Knobs::from_environment() {
  Knobs knobs;
  knobs.root = text("ROOT", "/dev/shm/tessera_stand_in." + std::to_string(getuid()));
  knobs.event_root = text("EVENT_ROOT", knobs.root);
  knobs.device_count = static_cast<int>(std::clamp<std::int64_t>(number("DEVICES", knobs.device_count), 0, 16));
  knobs.memory_bytes = mebibytes("MEMORY_MIB", knobs.memory_bytes);
  knobs.uuid_seed = text("UUID_SEED", knobs.uuid_seed);
  knobs.mig_instances = number_pairs("MIG", '=');
  knobs.peers = peer_pairs();
  knobs.attributes = number_pairs("ATTRIBUTES", '=');
  knobs.compute_mode = static_cast<int>(number("COMPUTE_MODE", 0));
  knobs.version = static_cast<int>(number("VERSION", knobs.version));
  knobs.is_stub = number("STUB", 0) != 0;
  knobs.context_bytes = mebibytes("CONTEXT_MIB", 0);
  knobs.address_limit_bytes = mebibytes("ADDRESS_LIMIT_MIB", knobs.address_limit_bytes);
  if (std::int64_t poison = number("POISON", -1); poison >= 0) {
    knobs.poison = static_cast<int>(poison & 0xff);
  }
  knobs.freed_code = code("FREED_CODE", knobs.freed_code);
  knobs.garbage_code = code("GARBAGE_CODE", knobs.garbage_code);
  knobs.hidden_code = code("HIDDEN_CODE", knobs.hidden_code);
  knobs.peer_code = code("PEER_CODE", knobs.peer_code);
  knobs.mig_code = code("MIG_CODE", knobs.mig_code);
  knobs.no_device_code = code("NO_DEVICE_CODE", knobs.no_device_code);
  knobs.delay = std::chrono::microseconds(std::max<std::int64_t>(0, number("DELAY_US", 0)));
  knobs.open_us_per_mib = static_cast<std::uint64_t>(std::max<std::int64_t>(0, number("OPEN_US_PER_MIB", 0)));
  knobs.close_us_per_mib = static_cast<std::uint64_t>(std::max<std::int64_t>(0, number("CLOSE_US_PER_MIB", 0)));
  knobs.does_dead_event_hang = number("DEAD_EVENT_HANGS", 0) != 0;
  knobs.faults = text("FAULTS", "");
  knobs.crash = text("CRASH", "");
  for (const std::string& name : split(text("BREAK", ""), ',')) {
    const auto* found = std::ranges::find(kMutationNames, name);
    if (found != std::end(kMutationNames)) {
      knobs.broken.set(static_cast<std::size_t>(found - std::begin(kMutationNames)));
    }
  }
  return knobs;
}

}  // namespace tessera::stand_in
