#include "payload_text.h"

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "command.h"
#include "tessera/base/file.h"

namespace tessera {
namespace {

constexpr std::uint64_t kLargestPayloadBytes = std::uint64_t{4} << 30U;

// No JSON text looks like that.
bool names_a_file(const std::string& word) {
  constexpr std::string_view kBeginsOfJson = "{[\"-0123456789 \t\r\n";
  std::error_code error;
  return !word.empty() && kBeginsOfJson.find(word[0]) == std::string_view::npos &&
         (word.ends_with(".json") || std::filesystem::is_regular_file(word, error));
}

}  // namespace

std::string text_of_payload(const std::string& word) {
  if (!word.starts_with('@')) {
    if (names_a_file(word)) {
      throw CommandError(ExitCode::kFailure,
                         "the payload is not JSON, but the name of a file; did you mean '@" + word + "'?");
    }
    return word;
  }
  Result<std::string> text = read_file(word.substr(1), kLargestPayloadBytes);
  if (!text) {
    throw CommandError(ExitCode::kUsage,
                       "Could not read data from path " + word + ". (" + text.error().message() + ")");
  }
  return *std::move(text);
}

}  // namespace tessera
