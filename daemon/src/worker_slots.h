// Slots for work that only so many may do at once, and a bounded queue of those that wait. No thread ever blocks here.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include "tessera/base/mutex.h"

namespace tessera {

/// Hands out slots, first come first served. Safe to use from any thread.
class WorkerSlots {
 public:
  /// Somebody who waits for a slot.
  class Waiter {
   public:
    Waiter() = default;
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    virtual ~Waiter() = default;
    /// Called once, on the thread that gave a slot back: the slot now belongs to this waiter. Must not block, must not
    /// throw, and goes on elsewhere.
    virtual void granted() = 0;
    /// Called instead of it, once, by whoever refuses all waiters. As granted() otherwise.
    virtual void refused() = 0;
  };

  /// What became of a wish for a slot.
  enum class Outcome {
    kTaken,   ///< the caller has a slot
    kQueued,  ///< the waiter was kept and will be granted one
    kFull,    ///< too many wait already
  };

  WorkerSlots(std::size_t slots, std::size_t waiting_limit)
      : slots_(slots), free_(slots), waiting_limit_(waiting_limit) {}

  /// Takes a slot if one is free and nobody waits.
  [[nodiscard]] bool try_take();
  /// Takes a slot, or queues `waiter` (which is moved from only then).
  [[nodiscard]] Outcome take_or_wait(std::unique_ptr<Waiter>& waiter);
  /// Gives a slot back: to whoever waits longest, if anybody does.
  void give_back();
  /// Refuses the waiters, and takes no further ones.
  void refuse_waiters();
  /// Destroys the waiters without granting them anything, and takes no further ones.
  void drop_waiters();

  [[nodiscard]] std::size_t slots() const { return slots_; }
  [[nodiscard]] std::size_t taken() const;
  [[nodiscard]] std::size_t waiting() const;

 private:
  const std::size_t slots_;
  mutable Mutex mutex_;
  std::size_t free_ TESSERA_GUARDED_BY(mutex_);
  std::size_t waiting_limit_ TESSERA_GUARDED_BY(mutex_);
  std::deque<std::unique_ptr<Waiter>> queue_ TESSERA_GUARDED_BY(mutex_);
};

/// Holds one slot, or none, and gives it back. Move-only. One thread at a time.
class HeldSlot {
 public:
  HeldSlot() = default;
  /// Takes over a slot that was taken or granted.
  explicit HeldSlot(WorkerSlots& slots) : slots_(&slots) {}
  HeldSlot(const HeldSlot&) = delete;
  HeldSlot& operator=(const HeldSlot&) = delete;
  HeldSlot(HeldSlot&& other) noexcept : slots_(std::exchange(other.slots_, nullptr)) {}
  HeldSlot& operator=(HeldSlot&& other) noexcept {
    std::swap(slots_, other.slots_);
    return *this;
  }
  ~HeldSlot() { give_back(); }

  [[nodiscard]] bool is_held() const { return slots_ != nullptr; }
  void give_back() {
    if (slots_ != nullptr) {
      std::exchange(slots_, nullptr)->give_back();
    }
  }

 private:
  WorkerSlots* slots_ = nullptr;
};

}  // namespace tessera
