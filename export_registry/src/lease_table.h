// Leases by id.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lease.h"

namespace tessera {

/// A hash table that grows and shrinks by one bucket at a time (linear hashing), so that no call moves more than two
/// buckets. Owns no lease. One thread at a time.
class LeaseTable {
 public:
  static constexpr std::size_t kSegmentBuckets = 512;
  using Segment = std::array<Lease*, kSegmentBuckets>;

  LeaseTable();

  /// Requires: no lease of that id is in the table. Throws std::bad_alloc and changes nothing.
  void insert(Lease& lease);
  [[nodiscard]] Lease* find(const RandomId& id) const;
  /// Removes a lease; null if there is none.
  Lease* take(const RandomId& id);
  /// Hands over a segment that was emptied, if there is one, so that it can be freed outside the lock: malloc may give
  /// a lot back to the system on that occasion.
  [[nodiscard]] std::unique_ptr<Segment> take_empty_segment() { return std::move(empty_); }

 private:
  [[nodiscard]] std::size_t index_of(const RandomId& id) const;
  [[nodiscard]] Lease*& bucket(std::size_t index) const {
    return (*segments_[index / kSegmentBuckets])[index % kSegmentBuckets];
  }
  void split_one();
  void merge_one();

  std::vector<std::unique_ptr<Segment>> segments_;
  std::unique_ptr<Segment> empty_;
  std::size_t buckets_ = kSegmentBuckets;
  std::size_t leases_ = 0;
};

}  // namespace tessera
