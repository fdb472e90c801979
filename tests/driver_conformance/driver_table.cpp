#include "driver_table.h"

#include <dlfcn.h>

namespace tessera::driver_conformance {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

DriverTable& driver() {
  static DriverTable table;
  return table;
}

std::string load_driver(DriverTable& table) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return dlerror();  // NOLINT(concurrency-mt-unsafe)
  }
  std::string missing;
#define TESSERA_X(name, arguments)         \
  if (!find(library, #name, table.name)) { \
    missing += std::string(" ") + #name;   \
  }
  TESSERA_CONFORMANCE_CALLS(TESSERA_X)
#undef TESSERA_X
  find(library, "tessera_stand_in_mutation", table.mutation);
  return missing.empty() ? "" : "the driver has no" + missing;
}

}  // namespace tessera::driver_conformance
