#include "tessera/base/confined_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include "open_beneath.h"
#include "tessera/base/file.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

constexpr mode_t kFileMode = 0644;
constexpr mode_t kFolderMode = 0755;

std::string in_quotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

// A name that need not be trusted may be as long as a request.
std::string quoted_name(std::string_view name) {
  return in_quotes(brief(name));
}

Error leaves_folder(std::string_view name) {
  return {ErrorCode::kInvalidArgument, "path " + quoted_name(name) + " leaves its folder"};
}

Error is_a_folder(std::string_view name) {
  return {ErrorCode::kInvalidArgument, "path " + quoted_name(name) + " is a folder", EISDIR};
}

// What is left of an absolute `name` below `folder`; nothing if it is not below it as a text.
std::optional<std::string> below(const std::filesystem::path& folder, std::string_view name) {
  std::string_view prefix = folder.native();
  while (prefix.ends_with('/')) {
    prefix.remove_suffix(1);
  }
  if (!name.starts_with(prefix) || (name.size() > prefix.size() && name[prefix.size()] != '/')) {
    return std::nullopt;
  }
  name.remove_prefix(prefix.size());
  while (name.starts_with('/')) {
    name.remove_prefix(1);
  }
  return std::string(name.empty() ? "." : name);
}

// Whether a relative name, read as a text, goes above where it begins. What lies there is not looked at, so that no
// answer tells what there is outside.
bool leaves_as_text(std::string_view name) {
  std::size_t depth = 0;
  while (!name.empty()) {
    const std::size_t slash = name.find('/');
    const std::string_view component = name.substr(0, slash);
    if (component == "..") {
      if (depth == 0) {
        return true;
      }
      --depth;
    } else if (!component.empty() && component != ".") {
      ++depth;
    }
    name = slash == std::string_view::npos ? std::string_view() : name.substr(slash + 1);
  }
  return false;
}

// Clients read this, so it does not say where the folder is.
Error cannot_open(std::string_view name, int errno_value) {
  switch (errno_value) {
    case EXDEV:
      return leaves_folder(name);
    case ENOENT:
      return {ErrorCode::kNotFound, "no such file: " + quoted_name(name)};
    case ENOTDIR:
      return {ErrorCode::kNotFound, "no such file: " + quoted_name(name) + ": a part of it is not a folder",
              errno_value};
    case EISDIR:
      return is_a_folder(name);
    default:
      return system_error("cannot open " + quoted_name(name), errno_value);
  }
}

// Its size, if it is a regular file.
Result<std::uint64_t> regular_size(int fd, std::string_view name) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) {
    return system_error("cannot look at " + quoted_name(name), errno);
  }
  if (S_ISDIR(info.st_mode)) {
    return is_a_folder(name);
  }
  if (!S_ISREG(info.st_mode)) {
    return Error(ErrorCode::kInvalidArgument, "path " + quoted_name(name) + " is not a regular file");
  }
  return static_cast<std::uint64_t>(info.st_size);
}

}  // namespace

Result<ConfinedFolder> ConfinedFolder::open(const std::filesystem::path& root) {
  std::error_code failure;
  std::filesystem::path resolved = std::filesystem::canonical(root, failure);
  if (failure) {
    return system_error("cannot open folder " + in_quotes(root.native()), failure.value());
  }
  UniqueFd descriptor = UniqueFd::adopt(::open(resolved.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) {
    return system_error("cannot open folder " + in_quotes(root.native()), errno);
  }
  return ConfinedFolder(std::move(resolved), std::move(descriptor));
}

ConfinedFolder ConfinedFolder::at(const std::filesystem::path& root) {
  return {root.lexically_normal(), UniqueFd()};
}

// Of writing, which is the operator's matter: says where.
Error ConfinedFolder::cannot_write(std::string_view name, int errno_value) const {
  const Error error = cannot_open(name, errno_value);
  return {error.code(), error.message() + " in " + in_quotes(path_.native()), error.native_code()};
}

// Whether the folder that is open is the one at its path.
bool ConfinedFolder::is_in_place() const {
  struct stat opened{};
  struct stat current{};
  return root_.is_open() && ::fstat(root_.value(), &opened) == 0 && ::stat(path_.c_str(), &current) == 0 &&
         opened.st_dev == current.st_dev && opened.st_ino == current.st_ino;
}

// A folder that was removed while it was open holds nothing and takes nothing. What fails for that, or for want of a
// folder, is done once more with the one that is there now.
template <class Operation>
auto ConfinedFolder::try_again_if_gone(bool is_to_write, Operation operation) const {
  auto result = operation(*this);
  if (result.has_value() || result.error().code() != ErrorCode::kNotFound || is_in_place()) {
    return result;
  }
  if (is_to_write) {
    std::error_code ignored;
    std::filesystem::create_directories(path_, ignored);
  }
  const Result<ConfinedFolder> current = open(path_);
  return current.has_value() ? operation(*current) : std::move(result);
}

Result<std::string> ConfinedFolder::relative_name(std::string_view name) const {
  if (name.find('\0') != std::string_view::npos) {
    return Error(ErrorCode::kInvalidArgument, "a path may not hold a NUL character");
  }
  const bool is_relative = !name.starts_with('/');
  if (is_relative && leaves_as_text(name)) {
    return leaves_folder(name);
  }
  if (!root_.is_open()) {
    return cannot_open(name, ENOENT);
  }
  if (is_relative) {
    return std::string(name.empty() ? "." : name);
  }
  std::optional<std::string> rest = below(path_, name);
  if (rest && !leaves_as_text(*rest)) {
    return *std::move(rest);
  }
  // As a text, since what `..` is behind a link outside would tell of that link.
  const std::filesystem::path path = std::filesystem::path(name).lexically_normal();
  rest = below(path_, path.native());
  if (rest) {
    return *std::move(rest);
  }
  // The folder may be spelled through links. What this finds is checked again when it is opened; the last component
  // stays as it is, for a link there may be what shall be removed.
  std::error_code failure;
  const std::filesystem::path parent = std::filesystem::weakly_canonical(path.parent_path(), failure);
  if (!failure) {
    rest = below(path_, (parent / path.filename()).native());
    if (rest) {
      return *std::move(rest);
    }
  }
  if (std::filesystem::weakly_canonical(path, failure) == path_) {
    return std::string(".");
  }
  return leaves_folder(name);
}

Result<UniqueFd> ConfinedFolder::open_file(std::string_view name) const {
  return try_again_if_gone(false, [name](const ConfinedFolder& folder) { return folder.open_existing(name); });
}

Result<UniqueFd> ConfinedFolder::open_existing(std::string_view name) const {
  TESSERA_ASSIGN_OR_RETURN(const std::string relative, relative_name(name));
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  UniqueFd file = open_beneath(root_.value(), path_, relative, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  if (!file.is_open()) {
    return cannot_open(name, errno);
  }
  TESSERA_RETURN_IF_ERROR(regular_size(file.value(), name));
  return file;
}

Result<UniqueFd> ConfinedFolder::create_file(std::string_view name) const {
  return try_again_if_gone(true, [name](const ConfinedFolder& folder) { return folder.create_new(name); });
}

Result<UniqueFd> ConfinedFolder::create_new(std::string_view name) const {
  TESSERA_ASSIGN_OR_RETURN(const std::string relative, relative_name(name));
  UniqueFd file = open_beneath(root_.value(), path_, relative, O_RDWR | O_CREAT | O_EXCL, kFileMode);
  if (!file.is_open()) {
    return cannot_write(name, errno);
  }
  return file;
}

Result<UniqueFd> ConfinedFolder::create_unnamed_file() const {
  // Opened anew by its path: a descriptor with O_PATH takes no such file.
  UniqueFd file = UniqueFd::adopt(::open(path_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kFileMode));
  if (!file.is_open()) {
    return system_error("cannot make a file in " + in_quotes(path_.native()), errno);
  }
  return file;
}

Status ConfinedFolder::name_file(const UniqueFd& file, std::string_view name) const {
  TESSERA_ASSIGN_OR_RETURN(const std::string relative, relative_name(name));
  const ParentAndName split = split_last(relative);
  const UniqueFd parent = open_beneath(root_.value(), path_, split.parent, O_PATH | O_DIRECTORY, 0);
  const std::string link = "/proc/self/fd/" + std::to_string(file.value());
  if (!parent.is_open() ||
      ::linkat(AT_FDCWD, link.c_str(), parent.value(), split.name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return cannot_write(name, errno);
  }
  return {};
}

Result<UniqueFd> ConfinedFolder::open_for_append(std::string_view name, bool truncate) const {
  return try_again_if_gone(
      true, [name, truncate](const ConfinedFolder& folder) { return folder.open_appending(name, truncate); });
}

Result<UniqueFd> ConfinedFolder::open_appending(std::string_view name, bool truncate) const {
  TESSERA_ASSIGN_OR_RETURN(const std::string relative, relative_name(name));
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY;
  UniqueFd file = open_beneath(root_.value(), path_, relative, kFlags, kFileMode);
  if (!file.is_open()) {
    return cannot_write(name, errno);
  }
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t size, regular_size(file.value(), name));
  if (truncate && size != 0 && ::ftruncate(file.value(), 0) != 0) {
    return system_error("cannot empty " + quoted_name(name) + " in " + in_quotes(path_.native()), errno);
  }
  return file;
}

Status ConfinedFolder::create_folders(std::string_view name) const {
  return try_again_if_gone(true, [name](const ConfinedFolder& folder) { return folder.make_folders(name); });
}

Status ConfinedFolder::make_folders(std::string_view name) const {
  TESSERA_ASSIGN_OR_RETURN(const std::string relative, relative_name(name));
  constexpr int kFlags = O_PATH | O_DIRECTORY;
  UniqueFd folder;  // the last one; the root to begin with
  bool is_open = true;
  std::size_t end = 0;
  while (is_open && end < relative.size()) {
    const std::size_t begin = relative.find_first_not_of('/', end);
    if (begin == std::string::npos) {
      break;
    }
    end = std::min(relative.find('/', begin), relative.size());
    const std::string component = relative.substr(begin, end - begin);
    const int parent = folder.is_open() ? folder.value() : root_.value();
    const bool is_name = component != "." && component != "..";
    const bool is_made = is_name && ::mkdirat(parent, component.c_str(), kFolderMode) == 0;
    if (is_name && !is_made && errno != EEXIST) {
      return system_error("cannot make folder " + quoted_name(name) + " in " + in_quotes(path_.native()), errno);
    }
    if (is_made && end == relative.size()) {
      return {};
    }
    // What is there already, a link perhaps, is for the opening to judge.
    folder = open_beneath(root_.value(), path_, relative.substr(0, end), kFlags, 0);
    is_open = folder.is_open();
  }
  if (!is_open) {
    if (errno == EXDEV) {
      return leaves_folder(name);
    }
    return system_error("cannot make folder " + quoted_name(name) + " in " + in_quotes(path_.native()), errno);
  }
  return {};
}

Status ConfinedFolder::remove_file(std::string_view name) const {
  return remove(name, 0);
}

Status ConfinedFolder::remove_folder(std::string_view name) const {
  return remove(name, AT_REMOVEDIR);
}

Status ConfinedFolder::remove(std::string_view name, int flags) const {
  TESSERA_ASSIGN_OR_RETURN(const std::string relative, relative_name(name));
  const ParentAndName split = split_last(relative);
  const UniqueFd parent = open_beneath(root_.value(), path_, split.parent, O_PATH | O_DIRECTORY, 0);
  if (!parent.is_open()) {
    return errno == ENOENT ? Status() : cannot_write(name, errno);
  }
  if (::unlinkat(parent.value(), split.name.c_str(), flags) != 0 && errno != ENOENT) {
    return cannot_write(name, errno);
  }
  return {};
}

}  // namespace tessera
