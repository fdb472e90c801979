// A file that all processes of the machine map, with locks that the kernel takes from a process that dies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tessera/base/mutex.h"
#include "tessera/base/unique_fd.h"

namespace tessera::stand_in {

/// A file of fixed size, mapped shared. Its bytes serve as locks besides (POSIX record locks: they belong to the
/// process, end with it, and are not inherited by a fork). Lives until the process ends.
class TESSERA_CAPABILITY("shared file") SharedFile {
 public:
  /// Creates or opens it. bytes() is null if that cannot be.
  SharedFile(const std::string& path, std::size_t size_bytes);
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile() = default;

  [[nodiscard]] std::byte* bytes() const { return bytes_; }

  /// The lock of the file, against other threads and other processes.
  void lock() TESSERA_ACQUIRE();
  void unlock() TESSERA_RELEASE();

  /// Locks of life: a process claims one for as long as it lives; others can ask.
  void claim_life(std::size_t index);
  [[nodiscard]] bool is_claimed_by_another(std::size_t index) const;

 private:
  Mutex mutex_;
  UniqueFd fd_;
  std::byte* bytes_ = nullptr;
};

/// Holds the lock of a SharedFile for the length of a scope.
class TESSERA_SCOPED_CAPABILITY SharedFileLock {
 public:
  explicit SharedFileLock(SharedFile& file) TESSERA_ACQUIRE(file) : file_(file) { file_.lock(); }
  ~SharedFileLock() TESSERA_RELEASE() { file_.unlock(); }
  SharedFileLock(const SharedFileLock&) = delete;
  SharedFileLock& operator=(const SharedFileLock&) = delete;

 private:
  SharedFile& file_;
};

}  // namespace tessera::stand_in
