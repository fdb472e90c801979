// cuGetProcAddress: functions by name and version.
#include <dlfcn.h>

#include <cstring>

#include "driver.h"

namespace tessera::stand_in {
namespace {

constexpr std::uint64_t kPerThreadDefaultStream = 2;
enum SymbolStatus : int { kFound = 0, kSymbolNotFound = 1, kVersionNotSufficient = 2 };

struct Symbol {
  const char* exported;
  const char* name;
  int version;
  bool is_per_thread;
};
constexpr Symbol kSymbols[] = {
#define TESSERA_X(exported, name, version, per_thread) {#exported, name, version, per_thread},
    TESSERA_STAND_IN_FUNCTIONS(TESSERA_X)
#undef TESSERA_X
};

// This library, whatever else the process has loaded.
void* own_symbol(const char* name) {
  static void* const kSelf = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&kSymbols), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return kSelf == nullptr ? nullptr : dlsym(kSelf, name);
}

struct Lookup {
  void* function = nullptr;
  SymbolStatus status = kSymbolNotFound;
};

// The newest that the asked version may know; with the flag the twin, where there is one.
Lookup look_up(const char* name, int version, std::uint64_t flags) {
  const Symbol* best = nullptr;
  bool is_known = false;
  bool wants_twin = (flags & kPerThreadDefaultStream) != 0;
  for (const Symbol& symbol : kSymbols) {
    if (std::strcmp(symbol.name, name) != 0) {
      continue;
    }
    is_known = true;
    bool is_better = best == nullptr || (symbol.is_per_thread ? 100000 : 0) + symbol.version >
                                            (best->is_per_thread ? 100000 : 0) + best->version;
    if (symbol.version <= version && (wants_twin || !symbol.is_per_thread) && is_better) {
      best = &symbol;
    }
  }
  if (best == nullptr) {
    return {nullptr, is_known ? kVersionNotSufficient : kSymbolNotFound};
  }
  return {own_symbol(best->exported), kFound};
}

}  // namespace

TESSERA_STAND_IN_EXPORT int cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags,
                                                int* status) {
  return call(Function::cuGetProcAddress_v2, Needs::kNothing, [&](Driver& driver) -> Result {
    if (name == nullptr || function == nullptr || version > driver.knobs.version) {
      return kInvalidValue;
    }
    Lookup found = look_up(name, version, flags);
    *function = found.function;
    if (status != nullptr) {
      *status = found.status;
    }
    bool is_broken = driver.breaks(Mutation::proc_address_unknown_fails);
    return found.function == nullptr && (status == nullptr || is_broken) ? kNotFound : kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
  return call(Function::cuGetProcAddress, Needs::kNothing, [&](Driver& driver) -> Result {
    if (name == nullptr || function == nullptr || version > driver.knobs.version) {
      return kInvalidValue;
    }
    *function = look_up(name, version, flags).function;
    return *function == nullptr ? kNotFound : kSuccess;
  });
}

}  // namespace tessera::stand_in
