// Primary contexts, and which of them is current on a thread.
#include "driver.h"

namespace tessera::stand_in {
namespace {

constexpr int kProhibited = 2;

Context* find_context(const Driver& driver, int device) {
  return device >= 0 && static_cast<std::size_t>(device) < driver.contexts.size()
             ? driver.contexts[static_cast<std::size_t>(device)].get()
             : nullptr;
}

bool is_context(const Driver& driver, const void* context) {
  for (const auto& one : driver.contexts) {
    if (one.get() == context) {
      return true;
    }
  }
  return false;
}

}  // namespace

TESSERA_STAND_IN_EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  return call(Function::cuDevicePrimaryCtxRetain, Needs::kInit, [&](Driver& driver) -> Result {
    Context* found = find_context(driver, device);
    if (context == nullptr) {
      return kInvalidValue;
    }
    if (found == nullptr) {
      return kInvalidDevice;
    }
    MutexLock lock(driver.mutex);
    if (driver.knobs.compute_mode == kProhibited) {
      return kUnknown;
    }
    ++found->retains;
    driver.activate(*found);
    if (driver.breaks(Mutation::retain_makes_current)) {
      context_stack(driver.knobs).push_back(found);
    }
    *context = found;
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  return call(Function::cuDevicePrimaryCtxRelease_v2, Needs::kInit, [&](Driver& driver) -> Result {
    Context* found = find_context(driver, device);
    if (found == nullptr) {
      return kInvalidDevice;
    }
    {
      MutexLock lock(driver.mutex);
      if (found->retains == 0) {
        return driver.breaks(Mutation::release_without_retain) ? kSuccess : kInvalidContext;
      }
      if (--found->retains > 0) {
        return kSuccess;
      }
    }
    driver.reset(*found);
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuDevicePrimaryCtxReset_v2(int device) {
  return call(Function::cuDevicePrimaryCtxReset_v2, Needs::kInit, [&](Driver& driver) -> Result {
    Context* found = find_context(driver, device);
    if (found == nullptr) {
      return kInvalidDevice;
    }
    driver.reset(*found);
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  return call(Function::cuDevicePrimaryCtxSetFlags_v2, Needs::kInit, [&](Driver& driver) -> Result {
    Context* found = find_context(driver, device);
    if (found == nullptr) {
      return kInvalidDevice;
    }
    MutexLock lock(driver.mutex);
    found->flags = flags;
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* is_active) {
  return call(Function::cuDevicePrimaryCtxGetState, Needs::kInit, [&](Driver& driver) -> Result {
    Context* found = find_context(driver, device);
    if (flags == nullptr || is_active == nullptr) {
      return kInvalidValue;
    }
    if (found == nullptr) {
      return kInvalidDevice;
    }
    MutexLock lock(driver.mutex);
    *flags = found->flags;
    *is_active = found->is_active.load() ? 1 : 0;
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuCtxSetCurrent(void* context) {
  return call(Function::cuCtxSetCurrent, Needs::kInit, [&](Driver& driver) -> Result {
    std::vector<Context*>& stack = context_stack(driver.knobs);
    if (context != nullptr && !is_context(driver, context)) {
      return kInvalidContext;
    }
    if (!stack.empty()) {
      stack.pop_back();
    }
    if (context != nullptr) {
      stack.push_back(static_cast<Context*>(context));
    }
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuCtxGetCurrent(void** context) {
  return call(Function::cuCtxGetCurrent, Needs::kInit, [&](Driver& driver) -> Result {
    if (context == nullptr) {
      return kInvalidValue;
    }
    *context = driver.current_context();
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuCtxPushCurrent_v2(void* context) {
  return call(Function::cuCtxPushCurrent_v2, Needs::kInit, [&](Driver& driver) -> Result {
    if (context == nullptr) {
      return kInvalidValue;
    }
    if (!is_context(driver, context)) {
      return kInvalidContext;
    }
    context_stack(driver.knobs).push_back(static_cast<Context*>(context));
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuCtxPopCurrent_v2(void** context) {
  return call(Function::cuCtxPopCurrent_v2, Needs::kInit, [&](Driver& driver) -> Result {
    std::vector<Context*>& stack = context_stack(driver.knobs);
    if (stack.empty()) {
      return kInvalidContext;
    }
    if (context != nullptr) {
      *context = stack.back();
    }
    stack.pop_back();
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuCtxGetDevice(int* device) {
  return call(Function::cuCtxGetDevice, Needs::kInit, [&](Driver& driver) -> Result {
    Context* context = driver.current_context();
    if (device == nullptr) {
      return kInvalidValue;
    }
    if (context == nullptr) {
      return kInvalidContext;
    }
    *device = static_cast<int>(context->ordinal());
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuCtxSynchronize() {
  return call_in_context(Function::cuCtxSynchronize, [&](Driver&, Context& context) -> Result {
    context.synchronize();
    return context.sticky_error();
  });
}

}  // namespace tessera::stand_in
