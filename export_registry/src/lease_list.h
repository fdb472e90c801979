// A list of leases through links that are members of theirs.
#pragma once

#include "lease.h"

namespace tessera {

/// Owns nothing, allocates nothing. One thread at a time.
template <LeaseLinks Lease::* kLinks>
class LeaseList {
 public:
  [[nodiscard]] Lease* front() const { return ends_.next; }
  [[nodiscard]] Lease* back() const { return ends_.previous; }
  [[nodiscard]] static Lease* after(const Lease& lease) { return (lease.*kLinks).next; }

  void push_back(Lease& lease) {
    lease.*kLinks = {.previous = ends_.previous, .next = nullptr};
    (ends_.previous != nullptr ? (ends_.previous->*kLinks).next : ends_.next) = &lease;
    ends_.previous = &lease;
  }

  /// Requires: the lease is in this list.
  void remove(const Lease& lease) {
    const LeaseLinks links = lease.*kLinks;
    (links.previous != nullptr ? (links.previous->*kLinks).next : ends_.next) = links.next;
    (links.next != nullptr ? (links.next->*kLinks).previous : ends_.previous) = links.previous;
  }

 private:
  LeaseLinks ends_;  // the last one is the previous of the end
};

}  // namespace tessera
