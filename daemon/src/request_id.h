// The id of a request: what its client and this daemon's log call it by.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace tessera {

/// Whether a client's own id may stand in a header and in a line of a log as it is: 1 to 128 letters, digits, and
/// `-_.:/+=@,;~`.
[[nodiscard]] bool is_request_id(std::string_view text);

/// A place for an id that the client did not choose. One thread at a time.
class RequestId {
 public:
  /// A new random one: 32 digits of hexadecimal. The last one ends.
  [[nodiscard]] std::string_view make();

 private:
  std::array<char, 32> text_{};
};

}  // namespace tessera
