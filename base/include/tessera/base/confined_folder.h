// A folder that names from outside cannot leave: no `..` above it, no absolute path out of it, no link out of it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "tessera/base/result.h"
#include "tessera/base/unique_fd.h"

namespace tessera {

/// Opens, makes and removes things below one folder, by names that need not be trusted (PROTOCOL.md section 17). Links
/// are followed only while they stay inside (openat2(2) with RESOLVE_BENEATH where the kernel has it; else resolved and
/// compared). What a name that leaves the folder leads to is never told: the answer is one, whether that exists or not.
/// Owns a descriptor of the folder; if another folder has taken its place since, or none is left, it is opened again,
/// for writing made again. Move-only. Safe to call from any thread.
class ConfinedFolder {
 public:
  /// Opens the folder `root`, which must exist. Errors: kNotFound; kInvalidArgument (not a folder, no
  /// right to it); others of the system.
  [[nodiscard]] static Result<ConfinedFolder> open(const std::filesystem::path& root);

  /// A folder that need not exist: it is looked for whenever something is asked of it, and holds nothing while it is
  /// not there. `root` is absolute.
  [[nodiscard]] static ConfinedFolder at(const std::filesystem::path& root);

  /// The folder's absolute path, links resolved (as given, if it was not there).
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Opens a regular file for reading. `name` is relative to the folder, or absolute and inside it. `a/../b` is fine
  /// while it stays inside, as a text and through links. Does not wait for pipes. Errors, which do not hold the
  /// folder's path: kNotFound (ENOTDIR: a file is in the way); kInvalidArgument (a folder, a device, leaves the folder,
  /// NUL in name); others of the system.
  [[nodiscard]] Result<UniqueFd> open_file(std::string_view name) const;

  /// Makes and opens a new file for reading and writing; one of that name may not exist. Parents must exist.
  /// Mode 0644. Errors: kInvalidArgument (it exists, leaves the folder), kNotFound (no parent), kUnavailable (disk
  /// full); others of the system.
  [[nodiscard]] Result<UniqueFd> create_file(std::string_view name) const;
  /// Makes and opens a file without a name on the folder's file system, which is gone with its last descriptor unless
  /// it is given a name. Mode 0644. Errors: kNotFound (no folder); others of the system: not every one has such files.
  [[nodiscard]] Result<UniqueFd> create_unnamed_file() const;
  /// Gives that file a name; one of that name may not exist. Parents must exist. Errors: as create_file().
  [[nodiscard]] Status name_file(const UniqueFd& file, std::string_view name) const;
  /// Opens a regular file for appending (writing only), made with mode 0644 if it does not exist; `truncate` empties it
  /// first. Parents must exist. Errors: as open_file().
  [[nodiscard]] Result<UniqueFd> open_for_append(std::string_view name, bool truncate) const;
  /// Makes a folder and its parents, mode 0755; no error if it is there. Errors: kInvalidArgument (leaves the folder, a
  /// file is in the way, no right to it); others of the system.
  [[nodiscard]] Status create_folders(std::string_view name) const;
  /// Removes a file; a link itself, never what it leads to; no error if it is not there. Errors: kInvalidArgument (a
  /// folder, leaves the folder); others of the system.
  [[nodiscard]] Status remove_file(std::string_view name) const;
  /// Removes a folder that is empty; no error if it is not there. Errors: kInvalidArgument (no folder, leaves the
  /// folder); others of the system, ENOTEMPTY among them.
  [[nodiscard]] Status remove_folder(std::string_view name) const;

 private:
  ConfinedFolder(std::filesystem::path path, UniqueFd root) : path_(std::move(path)), root_(std::move(root)) {}

  template <class Operation>
  [[nodiscard]] auto try_again_if_gone(bool is_to_write, Operation operation) const;
  [[nodiscard]] bool is_in_place() const;
  [[nodiscard]] Result<std::string> relative_name(std::string_view name) const;
  [[nodiscard]] Error cannot_write(std::string_view name, int errno_value) const;
  [[nodiscard]] Result<UniqueFd> open_existing(std::string_view name) const;
  [[nodiscard]] Result<UniqueFd> create_new(std::string_view name) const;
  [[nodiscard]] Result<UniqueFd> open_appending(std::string_view name, bool truncate) const;
  [[nodiscard]] Status make_folders(std::string_view name) const;
  [[nodiscard]] Status remove(std::string_view name, int flags) const;

  std::filesystem::path path_;
  UniqueFd root_;
};

}  // namespace tessera
