// std::mutex with the annotations that clang's -Wthread-safety checks.
#pragma once

#include <mutex>

// For clang alone, empty elsewhere: GUARDED_BY(m) marks a member that needs m, REQUIRES(m) a function whose caller
// holds m, NO_ANALYSIS one that it cannot follow.
#if defined(__clang__)
#define TESSERA_ANNOTATION(x) __attribute__((x))
#else
#define TESSERA_ANNOTATION(x)
#endif
#define TESSERA_CAPABILITY(x) TESSERA_ANNOTATION(capability(x))
#define TESSERA_SCOPED_CAPABILITY TESSERA_ANNOTATION(scoped_lockable)
#define TESSERA_GUARDED_BY(x) TESSERA_ANNOTATION(guarded_by(x))
#define TESSERA_REQUIRES(...) TESSERA_ANNOTATION(requires_capability(__VA_ARGS__))
#define TESSERA_ACQUIRE(...) TESSERA_ANNOTATION(acquire_capability(__VA_ARGS__))
#define TESSERA_RELEASE(...) TESSERA_ANNOTATION(release_capability(__VA_ARGS__))
#define TESSERA_TRY_ACQUIRE(...) TESSERA_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define TESSERA_NO_ANALYSIS TESSERA_ANNOTATION(no_thread_safety_analysis)

namespace tessera {

/// A mutex: not recursive, neither copied nor moved. Safe to use from any thread. Works with
/// std::condition_variable_any.
class TESSERA_CAPABILITY("mutex") Mutex {
 public:
  void lock() TESSERA_ACQUIRE() { mutex_.lock(); }
  void unlock() TESSERA_RELEASE() { mutex_.unlock(); }
  [[nodiscard]] bool try_lock() TESSERA_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

/// Holds a Mutex for the length of a scope, on one thread. The mutex outlives it.
class TESSERA_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TESSERA_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() TESSERA_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace tessera
