// What the environment says about the machine that is played, read once.
#pragma once

#include <array>
#include <bitset>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mutations.h"
#include "result_codes.h"

namespace tessera::stand_in {

using UuidBytes = std::array<std::uint8_t, 16>;

/// The variables TESSERA_STAND_IN_*; the README of this folder explains each. Immutable once read.
struct Knobs {
  // The machine: the same for all of its processes.
  std::string root;
  std::string event_root;
  int device_count = 2;
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;
  std::string uuid_seed = "tessera";
  std::map<int, int> mig_instances;                    ///< GPU number to how many
  std::optional<std::set<std::pair<int, int>>> peers;  ///< nothing: each GPU reaches each
  std::map<int, int> attributes;                       ///< device attributes that differ
  int compute_mode = 0;
  int version = 13000;
  bool is_stub = false;
  std::uint64_t context_bytes = 0;
  std::uint64_t address_limit_bytes = std::uint64_t{64} << 30;
  std::optional<int> poison;

  // How calls go wrong.
  Result freed_code = kInvalidHandle;
  Result garbage_code = kInvalidValue;
  Result hidden_code = kInvalidValue;
  Result peer_code = kPeerAccessUnsupported;
  Result mig_code = kInvalidValue;
  Result no_device_code = kNoDevice;

  // How long they take.
  std::chrono::microseconds delay{0};
  std::uint64_t open_us_per_mib = 0;
  std::uint64_t close_us_per_mib = 0;
  bool does_dead_event_hang = false;

  std::string faults;
  std::string crash;
  std::bitset<kMutationCount> broken;

  [[nodiscard]] static Knobs from_environment();
  [[nodiscard]] bool breaks(Mutation mutation) const { return broken.test(static_cast<std::size_t>(mutation)); }
};

}  // namespace tessera::stand_in
