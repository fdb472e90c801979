#include "tessera/base/container.h"

#include <algorithm>
#include <array>
#include <system_error>

namespace tessera {

bool is_in_container(const std::filesystem::path& root) {
  constexpr std::array kMarks{".dockerenv", "run/.containerenv", "var/run/secrets/kubernetes.io"};
  return std::ranges::any_of(kMarks, [&root](const char* mark) {
    std::error_code ignored;
    return std::filesystem::exists(root / mark, ignored);
  });
}

}  // namespace tessera
