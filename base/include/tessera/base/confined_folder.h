// A folder that names from outside cannot leave: no `..` above it, no absolute path out of it, no link out of it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "tessera/base/result.h"
#include "tessera/base/unique_fd.h"

namespace tessera {

/// Opens, makes and removes things below one folder, by names that need not be trusted. Links are followed only while
/// they stay inside (openat2(2) with RESOLVE_BENEATH where the kernel has it; else resolved and compared).
/// Safe to call from any thread.
class ConfinedFolder {
 public:
  /// Opens the folder `root`, which must exist. Errors: kNotFound, kInvalidArgument (not a folder).
  [[nodiscard]] static Result<ConfinedFolder> open(const std::filesystem::path& root);

  /// The folder's absolute path, links resolved.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Opens a regular file for reading. `name` is relative to the folder, or absolute and inside it. `a/../b` is fine
  /// while it stays inside. Errors: kNotFound; kInvalidArgument (a folder, a device, leaves the folder, NUL in name).
  [[nodiscard]] Result<UniqueFd> open_file(std::string_view name) const;

  /// Makes and opens a new file for reading and writing; one of that name may not exist. Parents must exist.
  [[nodiscard]] Result<UniqueFd> create_file(std::string_view name) const;
  /// Opens a file for appending, made if it does not exist; `truncate` empties it first.
  [[nodiscard]] Result<UniqueFd> open_for_append(std::string_view name, bool truncate) const;
  /// Makes a folder and its parents; no error if it is there.
  [[nodiscard]] Status create_folders(std::string_view name) const;
  /// Removes a file; no error if it is not there.
  [[nodiscard]] Status remove_file(std::string_view name) const;

 private:
  ConfinedFolder(std::filesystem::path path, UniqueFd root) : path_(std::move(path)), root_(std::move(root)) {}

  [[nodiscard]] Result<std::string> relative_name(std::string_view name) const;

  std::filesystem::path path_;
  UniqueFd root_;
};

}  // namespace tessera
