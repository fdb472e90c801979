// One lease, with the links of the three structures that it is in.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "tessera/base/clock.h"
#include "tessera/base/random_id.h"

namespace tessera {

struct Lease;

/// The neighbours of a lease in a list.
struct LeaseLinks {
  Lease* previous = nullptr;
  Lease* next = nullptr;
};

/// What is public of a lease; small enough to be copied under the lock.
struct LeaseFacts {
  RandomId id;
  std::uint64_t bytes = 0;
  Clock::Instant made;
  std::array<char, 47> peer{};  ///< an IPv6 address with its port; what is not used is zero
  bool is_acknowledging = false;
};

struct Lease {
  LeaseFacts facts;
  LeaseLinks by_age;
  LeaseLinks superseded;  ///< of those alone whose client names nothing
  Lease* same_bucket = nullptr;
  std::shared_ptr<void> owner;
};

// With the word that malloc adds and 8 to 16 bytes of the table, a lease takes less than the 200 bytes that it may.
static_assert(sizeof(Lease) <= 136);

}  // namespace tessera
