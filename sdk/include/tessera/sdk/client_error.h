// What a client throws: one class, whose kind says what the caller can do about it.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tessera/array/value.h"

namespace tessera {

/// One entry of a 422's `detail` (PROTOCOL.md section 7.2). A plain value.
struct RefusedItem {
  std::string type;     ///< e.g. "missing", "array_shape_mismatch"
  List place;           ///< keys and indices: "body", "inputs", "a"
  std::string message;  ///< what is wrong, with the numbers
  Value input;          ///< what was sent there, as far as the server shows it
  Value context;        ///< an object with the numbers of the message, or null
};

/// Why a call did not give a result. what() is one or several lines for people, with the server's own text. A plain
/// value.
class ClientError : public std::runtime_error {
 public:
  enum class Kind {
    kInvalidArgument,  ///< the call cannot be made: the URL, an encoding that the server does not accept, a folder
    kNotImplemented,   ///< the Tesseract does not have this endpoint; nothing was sent
    kConnection,       ///< no connection, or it broke off
    kTimeout,          ///< a limit of Timeouts passed
    kCancelled,        ///< by a Cancellation
    kRefused,          ///< 422: the inputs are not what the schema asks for; items() says where
    kStatus,           ///< another status that is no success; status()
    kBadResponse,      ///< what came back is not a response, or not of this protocol
    kGpu,              ///< an array in GPU memory could not be handed over
    kTestFailed,       ///< test(): the outputs were not the expected ones
  };

  ClientError(Kind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ClientError(Kind kind, const std::string& text, int status)
      : std::runtime_error(text), kind_(kind), status_(status) {}
  /// A 422. `title` is "endpoint <name>".
  ClientError(const std::string& text, std::string title, std::vector<RefusedItem> items)
      : std::runtime_error(text),
        kind_(Kind::kRefused),
        status_(422),
        title_(std::move(title)),
        items_(std::move(items)) {}

  [[nodiscard]] Kind kind() const { return kind_; }
  /// The status of the response, if there was one.
  [[nodiscard]] std::optional<int> status() const { return status_; }
  /// Of kRefused: "endpoint apply".
  [[nodiscard]] const std::string& title() const { return title_; }
  /// Of kRefused.
  [[nodiscard]] const std::vector<RefusedItem>& items() const { return items_; }

 private:
  Kind kind_;
  std::optional<int> status_;
  std::string title_;
  std::vector<RefusedItem> items_;
};

}  // namespace tessera
