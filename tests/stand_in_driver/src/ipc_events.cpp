#include "ipc_events.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace tessera::stand_in {

struct EventRecord {
  std::uint32_t is_used;
  std::uint32_t owner;
  std::int32_t pid;
  std::uint32_t padding;
  Id id;
  std::uint64_t recorded;
  std::uint64_t completed;
};

struct IpcEvents::Layout {
  static constexpr std::size_t kProcesses = 1024;
  static constexpr std::size_t kEvents = 4096;
  std::uint32_t is_taken[kProcesses];
  EventRecord events[kEvents];
};

IpcEvents::IpcEvents(const Knobs& knobs) : knobs_(knobs) {}

bool IpcEvents::join() {
  MutexLock lock(mutex_);
  if (file_ != nullptr) {
    return layout_ != nullptr;
  }
  mkdir(knobs_.event_root.c_str(), 0700);
  file_ = std::make_unique<SharedFile>(knobs_.event_root + "/events." + std::to_string(sizeof(Layout)), sizeof(Layout));
  if (file_->bytes() == nullptr) {
    return false;
  }
  layout_ = reinterpret_cast<Layout*>(file_->bytes());
  SharedFileLock file_lock(*file_);
  for (std::uint32_t index = 0; index < Layout::kProcesses; ++index) {
    if (layout_->is_taken[index] == 0 || !file_->is_claimed_by_another(index)) {
      // What the one before left behind is of no use to anybody.
      for (EventRecord& record : layout_->events) {
        if (record.is_used != 0 && record.owner == index) {
          record.is_used = 0;
        }
      }
      layout_->is_taken[index] = 1;
      self_ = index;
      file_->claim_life(index);
      return true;
    }
  }
  return true;
}

std::shared_ptr<IpcEvent> IpcEvents::create() {
  if (!join()) {
    return nullptr;
  }
  SharedFileLock lock(*file_);
  for (std::uint32_t index = 0; index < Layout::kEvents; ++index) {
    EventRecord& record = layout_->events[index];
    if (record.is_used == 0) {
      record = {.is_used = 0,
                .owner = self_,
                .pid = getpid(),
                .padding = 0,
                .id = random_id(),
                .recorded = 0,
                .completed = 0};
      record.is_used = 1;
      return std::make_shared<IpcEvent>(*this, index, true);
    }
  }
  return nullptr;
}

std::shared_ptr<IpcEvent> IpcEvents::open(const Id& id) {
  if (!join()) {
    return nullptr;
  }
  SharedFileLock lock(*file_);
  for (std::uint32_t index = 0; index < Layout::kEvents; ++index) {
    const EventRecord& record = layout_->events[index];
    if (record.is_used != 0 && record.id == id) {
      return std::make_shared<IpcEvent>(*this, index, false);
    }
  }
  return nullptr;
}

bool IpcEvents::is_owner_dead(const EventRecord& record) const {
  return record.owner != self_ && !file_->is_claimed_by_another(record.owner);
}

IpcEvent::~IpcEvent() {
  if (is_own_) {
    SharedFileLock lock(*events_.file_);
    events_.layout_->events[index_].is_used = 0;
  }
}

const Id& IpcEvent::id() const {
  return events_.layout_->events[index_].id;
}
int IpcEvent::pid() const {
  return events_.layout_->events[index_].pid;
}

std::uint64_t IpcEvent::begin_record() {
  return std::atomic_ref(events_.layout_->events[index_].recorded).fetch_add(1) + 1;
}

void IpcEvent::complete(std::uint64_t number) {
  std::atomic_ref completed(events_.layout_->events[index_].completed);
  for (std::uint64_t before = completed.load(); before < number;) {
    completed.compare_exchange_weak(before, number);
  }
}

std::uint64_t IpcEvent::recorded() const {
  return std::atomic_ref(events_.layout_->events[index_].recorded).load();
}

bool IpcEvent::is_complete(std::uint64_t number) const {
  EventRecord& record = events_.layout_->events[index_];
  if (std::atomic_ref(record.completed).load() >= number) {
    return true;
  }
  return !is_own_ && !events_.knobs_.does_dead_event_hang && events_.is_owner_dead(record);
}

void IpcRecord::wait() {
  while (!is_done()) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace tessera::stand_in
