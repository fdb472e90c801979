// Events that processes share: counters in a file of the event root.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "machine.h"
#include "stream.h"

namespace tessera::stand_in {

struct EventRecord;
class IpcEvents;

/// An event that other processes may open, or one of theirs. Safe to use from any thread.
class IpcEvent {
 public:
  IpcEvent(IpcEvents& events, std::uint32_t index, bool is_own) : events_(events), index_(index), is_own_(is_own) {}
  IpcEvent(const IpcEvent&) = delete;
  IpcEvent& operator=(const IpcEvent&) = delete;
  ~IpcEvent();

  [[nodiscard]] const Id& id() const;
  [[nodiscard]] int pid() const;
  /// Says that a record was asked for; gives its number.
  [[nodiscard]] std::uint64_t begin_record();
  void complete(std::uint64_t number);
  [[nodiscard]] std::uint64_t recorded() const;
  [[nodiscard]] bool is_complete(std::uint64_t number) const;

 private:
  IpcEvents& events_;
  std::uint32_t index_;
  bool is_own_;
};

/// What a record of a shared event waits for, from any process.
class IpcRecord final : public Waitable {
 public:
  IpcRecord(std::shared_ptr<IpcEvent> event, std::uint64_t number) : event_(std::move(event)), number_(number) {}
  [[nodiscard]] bool is_done() override { return event_->is_complete(number_); }
  void wait() override;
  void hurry() override {}

 private:
  std::shared_ptr<IpcEvent> event_;
  std::uint64_t number_;
};

/// The events of an event root, which is not the machine's: the real driver looks elsewhere for them too. Safe to use
/// from any thread.
class IpcEvents {
 public:
  explicit IpcEvents(const Knobs& knobs);
  [[nodiscard]] std::shared_ptr<IpcEvent> create();
  [[nodiscard]] std::shared_ptr<IpcEvent> open(const Id& id);

 private:
  friend class IpcEvent;
  struct Layout;
  [[nodiscard]] bool join();
  [[nodiscard]] bool is_owner_dead(const EventRecord& record) const;

  const Knobs& knobs_;
  Mutex mutex_;
  std::unique_ptr<SharedFile> file_;
  Layout* layout_ = nullptr;
  std::uint32_t self_ = 0;
};

}  // namespace tessera::stand_in
