#include "open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tessera {
namespace {

// The kernel gives up with EAGAIN when something is renamed while it follows `..`.
constexpr int kAttempts = 16;

int open_by_kernel(int root, const std::string& relative, int flags, mode_t mode) {
  struct open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    fd = ::syscall(SYS_openat2, root, relative.c_str(), &how, sizeof(how));
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) {
      break;
    }
  }
  return static_cast<int>(fd);
}

// Opens a path without links, component by component, so that a link put there meanwhile is refused.
UniqueFd open_without_links(int root, const std::filesystem::path& relative, int flags, mode_t mode) {
  UniqueFd folder = UniqueFd::adopt(::openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (auto part = relative.begin(); folder.is_open() && part != relative.end(); ++part) {
    const bool is_last = std::next(part) == relative.end();
    const int part_flags = is_last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC;
    folder = UniqueFd::adopt(::openat(folder.value(), part->c_str(), part_flags | O_NOFOLLOW, is_last ? mode : 0));
  }
  return folder;
}

UniqueFd failed(int errno_value) {
  errno = errno_value;
  return {};
}

}  // namespace

ParentAndName split_last(const std::string& relative) {
  const std::size_t slash = relative.rfind('/');
  if (slash == std::string::npos) {
    return {.parent = ".", .name = relative};
  }
  return {.parent = relative.substr(0, slash), .name = relative.substr(slash + 1)};
}

UniqueFd open_beneath(int root, const std::filesystem::path& root_path, const std::string& relative, int flags,
                      mode_t mode) {
  const int fd = open_by_kernel(root, relative, flags | O_CLOEXEC, mode);
  // The kernel refuses absolute links even where they lead to the inside (EXDEV).
  if (fd < 0 && (errno == EXDEV || errno == ENOSYS || errno == EPERM || errno == E2BIG)) {
    return open_beneath_by_resolving(root, root_path, relative, flags, mode);
  }
  return UniqueFd::adopt(fd);
}

UniqueFd open_beneath_by_resolving(int root, const std::filesystem::path& root_path, const std::string& relative,
                                   int flags, mode_t mode) {
  std::error_code failure;
  std::filesystem::path resolved = std::filesystem::canonical(root_path / relative, failure);
  if (failure && failure.value() == ENOENT && (flags & O_CREAT) != 0) {
    const ParentAndName split = split_last(relative);
    if (split.name.empty()) {
      return failed(EISDIR);
    }
    failure.clear();
    resolved = std::filesystem::canonical(root_path / split.parent, failure) / split.name;
  }
  if (failure) {
    return failed(failure.value());
  }
  const std::filesystem::path inside = resolved.lexically_relative(root_path);
  if (inside.empty() || *inside.begin() == "..") {
    return failed(EXDEV);
  }
  return open_without_links(root, inside, flags | O_CLOEXEC, mode);
}

}  // namespace tessera
