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

bool is_inside(const std::filesystem::path& root_path, const std::filesystem::path& place) {
  const std::filesystem::path way = place.lexically_relative(root_path);
  return !way.empty() && *way.begin() != "..";
}

// Whether a link that cannot be resolved leads out, or nobody can say.
bool is_link_out(const std::filesystem::path& root_path, std::filesystem::path link) {
  constexpr int kMaxLinks = 40;
  std::error_code failure;
  for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(link, failure); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(link, failure);
    link = std::filesystem::weakly_canonical(link.parent_path() / target, failure);
    if (failure || !is_inside(root_path, link)) {
      return true;
    }
  }
  return false;
}

// Goes one component on from `place`, which is resolved; what stands there after a failure is what stood there before.
// Returns 0 or the errno; EXDEV if that leaves the root.
int step(const std::filesystem::path& root_path, const std::filesystem::path& component, std::filesystem::path& place) {
  std::error_code failure;
  const std::filesystem::path next = place / component;
  if (component == ".." && place == root_path) {
    return EXDEV;
  }
  std::filesystem::path resolved = std::filesystem::canonical(next, failure);
  if (failure) {
    return is_link_out(root_path, next) ? EXDEV : failure.value();
  }
  if (!is_inside(root_path, resolved)) {
    return EXDEV;
  }
  place = std::move(resolved);
  return 0;
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
  const bool may_make = (flags & O_CREAT) != 0;
  if (may_make && relative.ends_with('/')) {
    return failed(EISDIR);
  }
  std::filesystem::path place = root_path;
  const std::filesystem::path parts(relative);
  for (auto part = parts.begin(); part != parts.end(); ++part) {
    // Step by step, for what stands behind a step that leaves must not be looked at.
    if (const int failure = step(root_path, *part, place); failure != 0) {
      const bool is_last = std::next(part) == parts.end();
      if (failure != ENOENT || !is_last || !may_make) {
        return failed(failure);
      }
      place /= *part;
    }
  }
  return open_without_links(root, place.lexically_relative(root_path), flags | O_CLOEXEC, mode);
}

}  // namespace tessera
