// Streams and events.
#include "driver.h"

namespace tessera::stand_in {
namespace {

constexpr unsigned kNonBlocking = 1;
constexpr unsigned kDisableTiming = 2;
constexpr unsigned kInterprocess = 4;

Result synchronize(Context& context, void* stream, bool is_per_thread) {
  std::shared_ptr<Stream> found = context.find_stream(stream, is_per_thread);
  if (found == nullptr) {
    return kInvalidHandle;
  }
  if (std::shared_ptr<Completion> last = found->last()) {
    last->hurry();
    last->wait();
  }
  return context.sticky_error();
}

Result query(Context& context, void* stream, bool is_per_thread) {
  std::shared_ptr<Stream> found = context.find_stream(stream, is_per_thread);
  if (found == nullptr) {
    return kInvalidHandle;
  }
  std::shared_ptr<Completion> last = found->last();
  return last == nullptr || last->is_done() ? context.sticky_error() : kNotReady;
}

// What an event stands for now; null for nothing. A shared one may have been recorded by its other process.
std::shared_ptr<Waitable> recorded(const Event& event) {
  if (event.shared != nullptr) {
    std::uint64_t number = event.shared->recorded();
    return number == 0 ? nullptr : std::make_shared<IpcRecord>(event.shared, number);
  }
  return event.last;
}

// Nothing for what is no event; else what it stands for, and itself where it is this process's own record.
struct Found {
  std::shared_ptr<Waitable> recorded;
  std::shared_ptr<Waitable> own;
};
std::optional<Found> find_recorded(Driver& driver, void* event) {
  MutexLock lock(driver.mutex);
  auto found = driver.events.find(event);
  if (found == driver.events.end()) {
    return std::nullopt;
  }
  return Found{recorded(*found->second), found->second->last};
}

Result wait_event(Driver& driver, Context& context, void* stream, void* event, bool is_per_thread) {
  std::shared_ptr<Stream> queue = context.find_stream(stream, is_per_thread);
  std::optional<Found> found = find_recorded(driver, event);
  if (queue == nullptr || !found) {
    return kInvalidHandle;
  }
  if (found->recorded != nullptr && !driver.breaks(Mutation::wait_event_ignored)) {
    context.submit(queue, {found->recorded}, [] {});
  }
  return kSuccess;
}

Result record(Driver& driver, Context& context, void* event, void* stream, bool is_per_thread) {
  std::shared_ptr<Stream> queue = context.find_stream(stream, is_per_thread);
  std::shared_ptr<IpcEvent> shared;
  {
    MutexLock lock(driver.mutex);
    auto found = driver.events.find(event);
    if (queue == nullptr || found == driver.events.end() || found->second->context != &context) {
      return kInvalidHandle;
    }
    shared = found->second->shared;
  }
  std::uint64_t number = shared == nullptr ? 0 : shared->begin_record();
  std::shared_ptr<Completion> done = context.submit(queue, {}, [shared, number] {
    if (shared != nullptr) {
      shared->complete(number);
    }
  });
  MutexLock lock(driver.mutex);
  auto found = driver.events.find(event);
  if (found != driver.events.end()) {
    found->second->last = std::move(done);
  }
  return kSuccess;
}

}  // namespace

TESSERA_STAND_IN_EXPORT int cuStreamCreate(void** stream, unsigned flags) {
  return call_in_context(Function::cuStreamCreate, [&](Driver&, Context& context) -> Result {
    if (stream == nullptr || flags > kNonBlocking) {
      return kInvalidValue;
    }
    *stream = context.create_stream((flags & kNonBlocking) == 0);
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuStreamDestroy_v2(void* stream) {
  return call_in_context(Function::cuStreamDestroy_v2, [&](Driver&, Context& context) {
    return context.destroy_stream(stream) ? kSuccess : kInvalidHandle;
  });
}

TESSERA_STAND_IN_EXPORT int cuStreamSynchronize(void* stream) {
  return call_in_context(Function::cuStreamSynchronize,
                         [&](Driver&, Context& context) { return synchronize(context, stream, false); });
}
TESSERA_STAND_IN_EXPORT int cuStreamSynchronize_ptsz(void* stream) {
  return call_in_context(Function::cuStreamSynchronize_ptsz,
                         [&](Driver&, Context& context) { return synchronize(context, stream, true); });
}
TESSERA_STAND_IN_EXPORT int cuStreamQuery(void* stream) {
  return call_in_context(Function::cuStreamQuery,
                         [&](Driver&, Context& context) { return query(context, stream, false); });
}
TESSERA_STAND_IN_EXPORT int cuStreamQuery_ptsz(void* stream) {
  return call_in_context(Function::cuStreamQuery_ptsz,
                         [&](Driver&, Context& context) { return query(context, stream, true); });
}

TESSERA_STAND_IN_EXPORT int cuStreamWaitEvent(void* stream, void* event, unsigned /*flags*/) {
  return call_in_context(Function::cuStreamWaitEvent, [&](Driver& driver, Context& context) {
    return wait_event(driver, context, stream, event, false);
  });
}
TESSERA_STAND_IN_EXPORT int cuStreamWaitEvent_ptsz(void* stream, void* event, unsigned /*flags*/) {
  return call_in_context(Function::cuStreamWaitEvent_ptsz, [&](Driver& driver, Context& context) {
    return wait_event(driver, context, stream, event, true);
  });
}

TESSERA_STAND_IN_EXPORT int cuEventCreate(void** event, unsigned flags) {
  return call_in_context(Function::cuEventCreate, [&](Driver& driver, Context& context) -> Result {
    bool is_shared_with_times = (flags & kInterprocess) != 0 && (flags & kDisableTiming) == 0;
    if (event == nullptr || flags > 7 || is_shared_with_times) {
      return kInvalidValue;
    }
    auto made = std::make_unique<Event>();
    made->context = &context;
    made->flags = flags;
    if ((flags & kInterprocess) != 0 || driver.breaks(Mutation::any_event_exports)) {
      made->shared = driver.ipc_events.create();
      if (made->shared == nullptr) {
        return kUnknown;
      }
    }
    *event = made.get();
    MutexLock lock(driver.mutex);
    driver.events[*event] = std::move(made);
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuEventDestroy_v2(void* event) {
  return call_in_context(Function::cuEventDestroy_v2, [&](Driver& driver, Context&) -> Result {
    MutexLock lock(driver.mutex);
    return driver.events.erase(event) == 0 ? kInvalidHandle : kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuEventRecord(void* event, void* stream) {
  return call_in_context(Function::cuEventRecord, [&](Driver& driver, Context& context) {
    return record(driver, context, event, stream, false);
  });
}
TESSERA_STAND_IN_EXPORT int cuEventRecord_ptsz(void* event, void* stream) {
  return call_in_context(Function::cuEventRecord_ptsz, [&](Driver& driver, Context& context) {
    return record(driver, context, event, stream, true);
  });
}

TESSERA_STAND_IN_EXPORT int cuEventQuery(void* event) {
  return call_in_context(Function::cuEventQuery, [&](Driver& driver, Context& context) -> Result {
    std::optional<Found> found = find_recorded(driver, event);
    if (!found) {
      return kInvalidHandle;
    }
    if (found->recorded == nullptr) {
      return driver.breaks(Mutation::event_pends_unrecorded) ? kNotReady : kSuccess;
    }
    return found->recorded->is_done() ? context.sticky_error() : kNotReady;
  });
}

TESSERA_STAND_IN_EXPORT int cuEventSynchronize(void* event) {
  return call_in_context(Function::cuEventSynchronize, [&](Driver& driver, Context& context) -> Result {
    std::optional<Found> found = find_recorded(driver, event);
    if (!found) {
      return kInvalidHandle;
    }
    if (found->own != nullptr) {
      found->own->hurry();
    }
    if (found->recorded != nullptr) {
      found->recorded->wait();
    }
    return context.sticky_error();
  });
}

}  // namespace tessera::stand_in
