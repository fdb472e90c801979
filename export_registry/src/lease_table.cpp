#include "lease_table.h"

#include <bit>
#include <cstring>
#include <utility>

namespace tessera {
namespace {

// An id is random, and nobody can choose one that gets into the table: its first bytes are as good as any hash.
std::size_t hash_of(const RandomId& id) {
  std::uint64_t hash = 0;
  std::memcpy(&hash, id.bytes().data(), sizeof(hash));
  return hash;
}

// The bucket that was split to make bucket `index`: the one without the highest bit.
std::size_t origin_of(std::size_t index) {
  return index - std::bit_floor(index);
}

}  // namespace

LeaseTable::LeaseTable() {
  segments_.push_back(std::make_unique<Segment>());
}

std::size_t LeaseTable::index_of(const RandomId& id) const {
  const std::size_t index = hash_of(id) & (std::bit_ceil(buckets_) - 1);
  return index < buckets_ ? index : origin_of(index);
}

void LeaseTable::insert(Lease& lease) {
  if (leases_ >= buckets_) {
    split_one();
  }
  Lease*& first = bucket(index_of(lease.facts.id));
  lease.same_bucket = first;
  first = &lease;
  ++leases_;
}

Lease* LeaseTable::find(const RandomId& id) const {
  Lease* lease = bucket(index_of(id));
  while (lease != nullptr && lease->facts.id != id) {
    lease = lease->same_bucket;
  }
  return lease;
}

Lease* LeaseTable::take(const RandomId& id) {
  Lease** place = &bucket(index_of(id));
  while (*place != nullptr && (*place)->facts.id != id) {
    place = &(*place)->same_bucket;
  }
  Lease* lease = *place;
  if (lease == nullptr) {
    return nullptr;
  }
  *place = lease->same_bucket;
  --leases_;
  // Two at a time, to keep pace with a registry that only shrinks; at a half, so that a steady one does neither.
  for (int i = 0; i < 2 && buckets_ > kSegmentBuckets && leases_ < buckets_ / 2; ++i) {
    merge_one();
  }
  return lease;
}

void LeaseTable::split_one() {
  const std::size_t added = buckets_;
  if (added % kSegmentBuckets == 0) {
    if (empty_ == nullptr) {
      empty_ = std::make_unique<Segment>();
    }
    segments_.push_back(nullptr);
    segments_.back() = std::move(empty_);
  }
  ++buckets_;
  Lease** place = &bucket(origin_of(added));
  while (*place != nullptr) {
    Lease* lease = *place;
    if (index_of(lease->facts.id) == added) {
      *place = lease->same_bucket;
      lease->same_bucket = std::exchange(bucket(added), lease);
    } else {
      place = &lease->same_bucket;
    }
  }
}

void LeaseTable::merge_one() {
  --buckets_;
  Lease** place = &bucket(origin_of(buckets_));
  while (*place != nullptr) {
    place = &(*place)->same_bucket;
  }
  *place = std::exchange(bucket(buckets_), nullptr);
  if (buckets_ % kSegmentBuckets == 0) {
    empty_ = std::move(segments_.back());
    segments_.pop_back();
  }
}

}  // namespace tessera
