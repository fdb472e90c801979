// What the daemon says to requests that are odd, hostile or wrong: one right answer for each.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace tessera {

/// A request, or several, and how a daemon answers whose body_bytes is kStrictnessBodyBytes. A plain value.
struct StrictnessCase {
  enum class Then { kKept, kClosed };

  std::string name;
  std::string bytes;
  int status = 0;  ///< of the last answer; those before are 200
  Then then = Then::kClosed;
  std::string words;      ///< of the body of the last answer
  int good_requests = 0;  ///< that the service is given
  int answers = 1;
};

/// Its name, for GoogleTest, which would show its bytes.
std::ostream& operator<<(std::ostream& out, const StrictnessCase& shown);

inline constexpr std::uint64_t kStrictnessBodyBytes = 1000;

/// GET /health is answered "ok", POST /echo with its body, GET /headers with host|content type|accept|exports|.
[[nodiscard]] std::vector<StrictnessCase> strictness_cases();

}  // namespace tessera
