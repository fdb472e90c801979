// The bytes of request bodies that all connections hold together, and their bound.
#pragma once

#include <atomic>
#include <cstdint>

namespace tessera {

/// Safe to use from any thread.
class BodiesBudget {
 public:
  explicit BodiesBudget(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  [[nodiscard]] std::uint64_t limit_bytes() const { return limit_bytes_; }
  [[nodiscard]] std::uint64_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }

  /// Takes so many more, or none if they would be too many. Returns whether it did.
  [[nodiscard]] bool take(std::uint64_t bytes) {
    std::uint64_t held = held_bytes();
    do {
      if (bytes > limit_bytes_ - held) {
        return false;
      }
    } while (!held_bytes_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(std::uint64_t bytes) { held_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const std::uint64_t limit_bytes_;
  std::atomic<std::uint64_t> held_bytes_{0};
};

/// What one connection holds of it: bytes that have arrived, not those that were announced, so that who promises much
/// and sends little keeps nobody out. One thread at a time.
class HeldBodyBytes {
 public:
  explicit HeldBodyBytes(BodiesBudget& budget) : budget_(budget) {}
  HeldBodyBytes(const HeldBodyBytes&) = delete;
  HeldBodyBytes& operator=(const HeldBodyBytes&) = delete;
  ~HeldBodyBytes() { give_back(); }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Returns whether so many more may be held.
  [[nodiscard]] bool add(std::uint64_t bytes) {
    const bool is_taken = budget_.take(bytes);
    bytes_ += is_taken ? bytes : 0;
    return is_taken;
  }
  void give_back() {
    budget_.give_back(bytes_);
    bytes_ = 0;
  }

 private:
  BodiesBudget& budget_;
  std::uint64_t bytes_ = 0;
};

}  // namespace tessera
