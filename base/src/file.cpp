#include "tessera/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "tessera/base/unique_fd.h"

namespace tessera {
namespace {

constexpr std::size_t kReadStepBytes = std::size_t{64} * 1024;

ErrorCode code_for(int errno_value) {
  switch (errno_value) {
    case ENOENT:
      return ErrorCode::kNotFound;
    case EINVAL:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case EXDEV:
    case EEXIST:
    case EACCES:
    case EPERM:
    case EROFS:
    case ENXIO:
      return ErrorCode::kInvalidArgument;
    case ENOMEM:
      return ErrorCode::kOutOfMemory;
    case EFBIG:
      return ErrorCode::kTooLarge;
    case EMFILE:
    case ENFILE:
    case EAGAIN:
    case EBUSY:
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kUnavailable;
    case ETIMEDOUT:
      return ErrorCode::kDeadlineExceeded;
    default:
      return ErrorCode::kInternal;
  }
}

Error too_large(const std::filesystem::path& path, std::uint64_t limit_bytes) {
  return {ErrorCode::kTooLarge, "file '" + path.string() + "' has more than " + std::to_string(limit_bytes) + " bytes"};
}

std::string quoted(std::string_view verb, const std::filesystem::path& path) {
  return std::string(verb) + " '" + path.string() + "'";
}

}  // namespace

Error system_error(std::string_view what, int errno_value) {
  return {code_for(errno_value), std::string(what) + ": " + std::generic_category().message(errno_value), errno_value};
}

Result<std::filesystem::path> program_path() {
  std::error_code fault;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", fault);
  if (fault) {
    return system_error("cannot tell where this program lies", fault.value());
  }
  return program;
}

Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t limit_bytes) {
  const UniqueFd file = UniqueFd::adopt(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    return system_error(quoted("cannot read", path), errno);
  }
  struct stat info{};
  if (::fstat(file.value(), &info) != 0) {
    return system_error(quoted("cannot read", path), errno);
  }
  std::string content;
  if (S_ISREG(info.st_mode)) {
    const auto size_bytes = static_cast<std::uint64_t>(info.st_size);
    if (size_bytes > limit_bytes) {
      return too_large(path, limit_bytes);
    }
    content.reserve(static_cast<std::size_t>(size_bytes) + 1);
  }
  // Pipes and files of /proc do not tell their size, and a file may grow: the end of file decides.
  while (true) {
    const std::size_t used = content.size();
    content.resize(std::max(content.capacity(), used + kReadStepBytes));
    const ssize_t count = ::read(file.value(), content.data() + used, content.size() - used);
    content.resize(used + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) {
      return content;
    }
    if (count < 0 && errno != EINTR) {
      return system_error(quoted("cannot read", path), errno);
    }
    if (content.size() > limit_bytes) {
      return too_large(path, limit_bytes);
    }
  }
}

Status write_file(const std::filesystem::path& path, std::string_view content) {
  const UniqueFd file = UniqueFd::adopt(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.is_open()) {
    return system_error(quoted("cannot write", path), errno);
  }
  if (const Status status = write_all(file.value(), std::as_bytes(std::span(content))); !status) {
    return Error(status.error().code(), quoted("cannot write", path) + ": " + status.error().message(),
                 status.error().native_code());
  }
  return {};
}

Status write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return system_error("write of " + std::to_string(bytes.size()) + " bytes failed", errno);
    }
  }
  return {};
}

Result<std::size_t> read_at(int fd, std::uint64_t offset_bytes, std::span<std::byte> into) {
  constexpr auto kLargestOffset = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  if (offset_bytes > kLargestOffset || into.size() > kLargestOffset - offset_bytes) {
    return Error(ErrorCode::kInvalidArgument, "offset " + std::to_string(offset_bytes) + " is beyond any file");
  }
  std::size_t done = 0;
  while (done < into.size()) {
    const auto rest = into.subspan(done);
    const ssize_t count = ::pread(fd, rest.data(), rest.size(), static_cast<off_t>(offset_bytes + done));
    if (count == 0) {
      break;
    }
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      return system_error("read at offset " + std::to_string(offset_bytes) + " failed", errno);
    }
  }
  return done;
}

}  // namespace tessera
