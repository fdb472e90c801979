// A mutex that a forked child can take, whatever its parent's other threads were doing.
#pragma once

#include "tessera/base/mutex.h"

namespace tessera {

/// A Mutex that fork(2) takes before it copies the process, and gives back in parent and child: the child finds it
/// free, and what it guards whole. For short sections in what a forked child goes on using. fork() waits a second at
/// most for those who hold one; a thread that forks holds none itself. Safe to use from any thread.
class TESSERA_CAPABILITY("mutex") ForkSafeMutex : public Mutex {
 public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;

 private:
  friend class ForkSafeMutexes;

  // Neighbours in the list of all.
  ForkSafeMutex* previous_ = nullptr;
  ForkSafeMutex* next_ = nullptr;
  bool is_held_for_fork_ = false;
};

}  // namespace tessera
