// Handles of events that other processes open.
#include <unistd.h>

#include <cstring>

#include "driver.h"
#include "ipc_handle.h"

namespace tessera::stand_in {

TESSERA_STAND_IN_EXPORT int cuIpcGetEventHandle(Handle* handle, void* event) {
  return call_in_context(Function::cuIpcGetEventHandle, [&](Driver& driver, Context&) -> Result {
    MutexLock lock(driver.mutex);
    auto found = driver.events.find(event);
    if (handle == nullptr) {
      return kInvalidValue;
    }
    if (found == driver.events.end() || found->second->shared == nullptr) {
      return kInvalidHandle;
    }
    Handle made{};
    std::memcpy(made.magic, kEventMagic, sizeof(made.magic));
    made.pid = getpid();
    made.id = found->second->shared->id();
    std::memcpy(handle, &made, sizeof(made));
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuIpcOpenEventHandle(void** event, Handle handle) {
  return call_in_context(Function::cuIpcOpenEventHandle, [&](Driver& driver, Context& context) -> Result {
    if (event == nullptr) {
      return kInvalidValue;
    }
    if (std::memcmp(handle.magic, kEventMagic, sizeof(handle.magic)) != 0) {
      return kInvalidHandle;
    }
    if (handle.pid == getpid()) {
      return kInvalidContext;
    }
    auto made = std::make_unique<Event>();
    made->context = &context;
    made->shared = driver.ipc_events.open(handle.id);
    if (made->shared == nullptr) {
      return kInvalidHandle;
    }
    *event = made.get();
    MutexLock lock(driver.mutex);
    driver.events[*event] = std::move(made);
    return kSuccess;
  });
}

}  // namespace tessera::stand_in
