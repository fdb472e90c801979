// Lets recv(2), as the daemon and the client call it, hand out what has come in pieces, as a slow network would.
#pragma once

#include <cstddef>

namespace tessera::fuzzing {

/// While it lives, recv() gives `piece` bytes at most; with `is_hesitant`, every second one says that there is nothing
/// yet. One exists at a time, and one thread receives.
class CutReceives final {
 public:
  CutReceives(std::size_t piece, bool is_hesitant);
  CutReceives(const CutReceives&) = delete;
  CutReceives& operator=(const CutReceives&) = delete;
  ~CutReceives();
};

}  // namespace tessera::fuzzing
