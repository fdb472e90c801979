// Errors that endpoints raise, under the names that Python gives them.
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tessera {

/// Thrown by an endpoint to fail with a named kind: `throw EndpointError("ValueError", "the mesh is empty")`. With a
/// status (400 to 599; others count as none) the client gets that status and `{"detail":"<text>"}`; with 422 the detail
/// is a list of one value_error at ["body"]; without, a 500 (PROTOCOL.md section 7.1).
class EndpointError : public std::runtime_error {
 public:
  EndpointError(std::string kind, const std::string& text) : std::runtime_error(text), kind_(std::move(kind)) {}
  EndpointError(std::string kind, const std::string& text, int status)
      : std::runtime_error(text), kind_(std::move(kind)), status_(status) {}

  [[nodiscard]] const std::string& kind() const { return kind_; }
  [[nodiscard]] std::optional<int> status() const { return status_; }

 private:
  std::string kind_;
  std::optional<int> status_;
};

/// How a call failed, for logs and answers. A plain value.
struct EndpointFailure {
  std::string kind;              ///< e.g. "ValueError"
  std::string text;              ///< what(), or the reason
  std::optional<int> status;     ///< 400 to 599, or nothing
  bool is_output_fault = false;  ///< the endpoint returned what its schema does not allow
};

/// The failure that an exception stands for, by one table: EndpointError → its own kind; std::invalid_argument,
/// std::domain_error, std::length_error, ValueError → ValueError; std::out_of_range → IndexError; std::overflow_error →
/// OverflowError; std::bad_alloc → MemoryError; std::system_error (std::filesystem::filesystem_error is one) → OSError;
/// std::logic_error, std::runtime_error and all others → RuntimeError: with the text if that is what was thrown, else
/// the name of the type. Requires: called in a catch block. Safe to call from any thread, like the next two.
[[nodiscard]] EndpointFailure current_failure();

/// Whether Python's exception class `kind` is `expected` or derived from it (ValueError is an Exception, KeyError a
/// LookupError). A dotted name is compared by its last part. A class that Python does not have is only itself, an
/// Exception and a BaseException (PROTOCOL.md section 4.5).
[[nodiscard]] bool is_kind_of(std::string_view kind, std::string_view expected);
/// Whether Python 3.11 has a built-in exception of that name (EnvironmentError and IOError included).
[[nodiscard]] bool is_builtin_exception(std::string_view name);

}  // namespace tessera
