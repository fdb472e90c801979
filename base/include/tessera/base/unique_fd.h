// An owned file descriptor.
#pragma once

#include <utility>

namespace tessera {

/// Owns a file descriptor and closes it. Move-only; may be empty. One thread at a time.
class UniqueFd final {
 public:
  UniqueFd() = default;
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  /// Swaps: what this owned is closed with `other`.
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd();

  /// Takes over a descriptor; a negative one makes an empty owner.
  [[nodiscard]] static UniqueFd adopt(int fd) {
    UniqueFd owner;
    owner.fd_ = fd;
    return owner;
  }

  /// Still owned; -1 if there is none.
  [[nodiscard]] int value() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  /// Hands the descriptor over to the caller.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace tessera
