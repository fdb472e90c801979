// Who drops what may wait for the work of a GPU as it goes: memory and mappings.
#pragma once

#include <memory>

namespace tessera {

/// Drops owners, perhaps later and on another thread. Safe to use from any thread.
class Closer {
 public:
  Closer() = default;
  Closer(const Closer&) = delete;
  Closer& operator=(const Closer&) = delete;
  virtual ~Closer() = default;

  /// Takes an owner over. Where there is no memory to remember it by, it is dropped at once.
  virtual void drop(std::shared_ptr<void> owner) noexcept = 0;
  /// Waits until what was handed over before is dropped: its memory is needed.
  virtual void wait() = 0;
};

/// One that drops on the thread that hands over.
[[nodiscard]] std::shared_ptr<Closer> drop_at_once();

}  // namespace tessera
