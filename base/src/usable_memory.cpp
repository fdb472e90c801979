#include "tessera/base/usable_memory.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/checked_math.h"
#include "tessera/base/file.h"

namespace tessera {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 20;

// Files of the kernel; what cannot be read says nothing.
std::string content_of(const std::filesystem::path& file) {
  Result<std::string> content = read_file(file, kMaxFileBytes);
  return content.has_value() ? *std::move(content) : std::string();
}

// The number that the text begins with; nothing for "max".
std::optional<std::uint64_t> number_at(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::uint64_t machine_bytes(const std::filesystem::path& root) {
  const std::string text = content_of(root / "proc/meminfo");
  constexpr std::string_view kName = "MemTotal:";
  if (const std::size_t at = text.find(kName); at != std::string::npos) {
    if (const auto kibibytes = number_at(std::string_view(text).substr(at + kName.size()))) {
      return checked_multiply<std::uint64_t>(*kibibytes, 1024).value_or(UINT64_MAX);
    }
  }
  return static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES))) *
         static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
}

// Of the group and of all above it. Some of them may not be seen from within a container: its own then lies at the top.
std::uint64_t least_of_groups(const std::filesystem::path& mount, const char* file, std::string_view group) {
  std::uint64_t least = UINT64_MAX;
  std::filesystem::path path(group.substr(std::min(group.find_first_not_of('/'), group.size())));
  while (true) {
    least = std::min(least, number_at(content_of(mount / path / file)).value_or(UINT64_MAX));
    if (path.empty()) {
      return least;
    }
    path = path.parent_path();
  }
}

// A line of /proc/self/cgroup: `0::/group` in v2, `4:cpu,memory:/group` in v1.
std::uint64_t limit_of(std::string_view line, const std::filesystem::path& root) {
  const std::size_t first = line.find(':');
  const std::size_t second = line.find(':', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos) {
    return UINT64_MAX;
  }
  const std::string_view group = line.substr(second + 1);
  const std::string controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
  if (controllers == ",,") {
    return least_of_groups(root / "sys/fs/cgroup", "memory.max", group);
  }
  if (controllers.find(",memory,") != std::string::npos) {
    return least_of_groups(root / "sys/fs/cgroup/memory", "memory.limit_in_bytes", group);
  }
  return UINT64_MAX;
}

}  // namespace

std::uint64_t usable_memory_bytes(const std::filesystem::path& root) {
  std::uint64_t least = machine_bytes(root);
  const std::string groups = content_of(root / "proc/self/cgroup");
  std::string_view rest = groups;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    least = std::min(least, limit_of(rest.substr(0, end), root));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return least;
}

}  // namespace tessera
