// All that the library is in one process, and the gate that each call goes through.
#pragma once

#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "address_space.h"
#include "context.h"
#include "device_table.h"
#include "faults.h"
#include "functions.h"
#include "ipc_events.h"
#include "knobs.h"
#include "machine.h"
#include "result_codes.h"
#include "tessera/base/mutex.h"

#define TESSERA_STAND_IN_EXPORT extern "C" __attribute__((visibility("default")))

namespace tessera::stand_in {

/// An event of this process, or one of another that was opened. Its address is the CUevent.
struct Event {
  Context* context = nullptr;
  unsigned flags = 0;
  std::shared_ptr<Waitable> last;  ///< null while nothing was recorded
  std::shared_ptr<IpcEvent> shared;
};

/// A CUmemGenericAllocationHandle.
struct VirtualAllocation {
  std::shared_ptr<PhysicalBlock> block;
  int requested_types = 0;
  int ordinal = -1;
  unsigned references = 1;
};

/// One for the process, made by the first call and never destroyed: other threads may call while the process ends.
class Driver {
 public:
  [[nodiscard]] static Driver& instance();
  /// Whether this process was forked from one that had called cuInit.
  [[nodiscard]] static bool is_poisoned();

  explicit Driver(Knobs knobs);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver() = default;

  [[nodiscard]] Result initialize();
  [[nodiscard]] bool is_initialized() const { return is_initialized_.load(); }
  [[nodiscard]] bool breaks(Mutation mutation) const { return knobs.breaks(mutation); }

  /// The context on top of this thread's stack. Null if there is none.
  [[nodiscard]] Context* current_context() const;
  /// Makes a context current for a call whose rule is broken on purpose.
  [[nodiscard]] Context* any_context();
  void activate(Context& context) TESSERA_REQUIRES(mutex);
  /// Ends all that a context has: allocations, streams.
  void reset(Context& context);
  /// Drops an allocation, and its mapping and block if nothing else lies in it.
  void drop(Allocation& allocation) TESSERA_REQUIRES(mutex);

  [[nodiscard]] std::uint64_t next_id() TESSERA_REQUIRES(mutex) { return ++last_id_; }

  const Knobs knobs;
  Faults faults;
  const std::unique_ptr<Machine> machine;
  const std::vector<Device> all;
  std::vector<Device> devices;                     ///< visible ones, by ordinal; constant after initialize()
  std::vector<std::unique_ptr<Context>> contexts;  ///< one each

  Mutex mutex;
  AddressSpace space TESSERA_GUARDED_BY(mutex);
  std::map<void*, std::unique_ptr<Event>> events TESSERA_GUARDED_BY(mutex);
  std::map<std::uint64_t, VirtualAllocation> virtual_allocations TESSERA_GUARDED_BY(mutex);
  IpcEvents ipc_events;

 private:
  Mutex init_mutex_;
  std::atomic<bool> is_initialized_{false};
  std::uint64_t last_id_ TESSERA_GUARDED_BY(mutex) = 0;
};

enum class Needs { kNothing, kInit };

/// Counts a call, lets it fail where that was asked for, and runs it.
class Gate {
 public:
  Gate(Function function, Needs needs);
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() = default;

  [[nodiscard]] bool is_open() const { return driver_ != nullptr && result_ == kSuccess; }
  [[nodiscard]] Result result() const { return result_; }
  [[nodiscard]] Driver& driver() const { return *driver_; }
  [[nodiscard]] int leave(Result result);

 private:
  Function function_;
  Driver* driver_ = nullptr;
  std::uint64_t number_ = 0;
  std::uint64_t overall_number_ = 0;
  Result result_ = kSuccess;
};

/// The body of an exported function: `body` is given the driver.
template <typename Body>
int call(Function function, Needs needs, Body body) noexcept {
  try {
    Gate gate(function, needs);
    return gate.leave(gate.is_open() ? body(gate.driver()) : gate.result());
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (...) {
    return kUnknown;
  }
}

/// The same for what needs a current context: `body` is given driver and context.
template <typename Body>
int call_in_context(Function function, Body body) noexcept {
  return call(function, Needs::kInit, [&body](Driver& driver) -> Result {
    Context* context = driver.current_context();
    if (context == nullptr && driver.breaks(Mutation::no_context_needed)) {
      context = driver.any_context();
    }
    if (context == nullptr) {
      return kInvalidContext;
    }
    if (!context->is_active.load()) {
      return kContextIsDestroyed;
    }
    if (context->sticky_error() != kSuccess) {
      return context->sticky_error();
    }
    return body(driver, *context);
  });
}

}  // namespace tessera::stand_in
