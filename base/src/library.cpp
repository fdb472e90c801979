#include "tessera/base/library.h"

#include <dlfcn.h>
#include <link.h>

#include <system_error>

namespace tessera {
namespace {

// The loader has one text for "the library is missing" and "a library that it needs is missing".
bool is_missing(const std::string& name, const std::string& loader_text) {
  if (name.find('/') != std::string::npos) {
    std::error_code ignored;
    return !std::filesystem::exists(name, ignored);
  }
  return loader_text.starts_with(name + ": cannot open shared object file");
}

}  // namespace

Result<Library> Library::open(const std::string& name) {
  // An empty name would open the program itself, and a name with a NUL another one than is meant.
  if (name.empty() || name.find('\0') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, "a library needs a name without NUL characters");
  }
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it per thread
    const std::string text = reason != nullptr ? reason : name + ": cannot be loaded";
    return Error(is_missing(name, text) ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument, text);
  }
  return Library(handle);
}

Library::~Library() {
  if (handle_ != nullptr) {
    ::dlclose(handle_);
  }
}

void* Library::find_symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : ::dlsym(handle_, name);
}

std::filesystem::path Library::path() const {
  link_map* map = nullptr;
  if (handle_ == nullptr || ::dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr) {
    return {};
  }
  return map->l_name;
}

}  // namespace tessera
