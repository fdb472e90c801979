// A shared library opened at run time.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "tessera/base/result.h"

namespace tessera {

/// Owns a library opened by dlopen(3) with RTLD_NOW | RTLD_LOCAL. Move-only. Symbols are valid while it lives.
/// Safe to use from one thread at a time.
class Library final {
 public:
  /// Opens a library by path or soname, and runs its constructors. Errors: kNotFound, kInvalidArgument, with the text
  /// of dlerror(3); an empty name, or one with a NUL, is kInvalidArgument.
  [[nodiscard]] static Result<Library> open(const std::string& name);

  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Library(Library&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  Library& operator=(Library&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Library();

  /// Finds a symbol in the library or in those that it needs; nullptr if there is none. Owned by the library.
  [[nodiscard]] void* find_symbol(const char* name) const;
  /// The path that the loader resolved, empty if it does not say.
  [[nodiscard]] std::filesystem::path path() const;

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace tessera
