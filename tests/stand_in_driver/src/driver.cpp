#include "driver.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>

namespace tessera::stand_in {
namespace {

// Constant-initialised, and never destroyed.
Mutex& instance_mutex() {
  static auto* mutex = new Mutex;
  return *mutex;
}
std::atomic<Driver*> instance_pointer{nullptr};
std::atomic<Driver*> abandoned{nullptr};  // keeps what a child cannot use reachable
std::atomic<bool> poisoned{false};

void before_fork() TESSERA_ACQUIRE(instance_mutex()) {
  instance_mutex().lock();
}
void after_fork_in_parent() TESSERA_RELEASE(instance_mutex()) {
  instance_mutex().unlock();
}
void after_fork_in_child() TESSERA_RELEASE(instance_mutex()) {
  Driver* driver = instance_pointer.load();
  if (driver != nullptr && driver->is_initialized()) {
    poisoned.store(!driver->breaks(Mutation::fork_works));
  } else if (driver != nullptr) {
    // It did not call cuInit before: it may do so now, as a process of its own.
    abandoned.store(driver);
    instance_pointer.store(nullptr);
  }
  instance_mutex().unlock();
}

}  // namespace

Driver& Driver::instance() {
  if (Driver* driver = instance_pointer.load()) {
    return *driver;
  }
  MutexLock lock(instance_mutex());
  if (instance_pointer.load() == nullptr) {
    static const int kRegistered = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    static_cast<void>(kRegistered);
    instance_pointer.store(new Driver(Knobs::from_environment()));
  }
  return *instance_pointer.load();
}

bool Driver::is_poisoned() {
  return poisoned.load();
}

Driver::Driver(Knobs given)
    : knobs(std::move(given)),
      machine(Machine::join(knobs)),
      all(all_devices(knobs)),
      space(knobs.address_limit_bytes),
      ipc_events(knobs) {
  faults.set_faults(knobs.faults);
  faults.set_crash(knobs.crash);
}

Result Driver::initialize() {
  MutexLock lock(init_mutex_);
  if (is_initialized_.load()) {
    return kSuccess;
  }
  if (machine == nullptr) {
    return kUnknown;
  }
  devices = visible_devices(all, std::getenv("CUDA_VISIBLE_DEVICES"));  // NOLINT(concurrency-mt-unsafe)
  if (devices.empty()) {
    return knobs.no_device_code;
  }
  for (std::size_t ordinal = 0; ordinal < devices.size(); ++ordinal) {
    contexts.push_back(std::make_unique<Context>(ordinal, knobs));
  }
  is_initialized_.store(true);
  return kSuccess;
}

Context* Driver::current_context() const {
  const std::vector<Context*>& stack = context_stack(knobs);
  return stack.empty() ? nullptr : stack.back();
}

Context* Driver::any_context() {
  MutexLock lock(mutex);
  activate(*contexts.front());
  return contexts.front().get();
}

void Driver::activate(Context& context) {
  if (!context.is_active.exchange(true)) {
    machine->set_context(devices[context.ordinal()].gpu, true);
  }
}

void Driver::reset(Context& context) {
  context.synchronize();
  {
    MutexLock lock(mutex);
    for (auto entry = space.allocations.begin(); entry != space.allocations.end();) {
      auto next = std::next(entry);
      if (entry->second.context == &context && !breaks(Mutation::release_keeps_memory)) {
        drop(entry->second);
      }
      entry = next;
    }
    context.is_active.store(false);
    std::erase_if(events, [&](const auto& entry) { return entry.second->context == &context; });
  }
  context.clear();
  machine->set_context(devices[context.ordinal()].gpu, false);
}

Gate::Gate(Function function, Needs needs) : function_(function) {
  if (Driver::is_poisoned() && (needs == Needs::kInit || function == Function::cuInit)) {
    result_ = kNotInitialized;
    return;
  }
  driver_ = &Driver::instance();
  if (driver_->knobs.is_stub) {
    result_ = kStubLibrary;
    return;
  }
  if (driver_->machine != nullptr && !Driver::is_poisoned()) {
    std::tie(number_, overall_number_) = driver_->machine->count_call(function);
    if (std::optional<Faults::Outcome> fault = driver_->faults.begin(function, number_, overall_number_)) {
      result_ = fault->code;
      if (Context* context = driver_->current_context(); context != nullptr && fault->is_sticky) {
        context->set_sticky_error(fault->code);
      }
      return;
    }
  }
  if (needs == Needs::kInit && !driver_->is_initialized()) {
    result_ = kNotInitialized;
    if (driver_->breaks(Mutation::no_init_needed)) {
      result_ = driver_->initialize();
    }
  }
}

int Gate::leave(Result result) {
  if (driver_ != nullptr && number_ != 0) {
    driver_->faults.end(function_, number_, overall_number_);
  }
  return result;
}

}  // namespace tessera::stand_in
