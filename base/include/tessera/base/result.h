// Values that may be errors instead: Error, Result<T>, Status, and the two macros that pass errors on.
#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tessera {

/// What a caller can do about an error; few on purpose.
enum class ErrorCode {
  kInvalidArgument,   ///< what was asked for cannot be: ask otherwise
  kNotFound,          ///< no such file, library, name
  kTooLarge,          ///< beyond a limit
  kUnavailable,       ///< taken, busy or used up: it may work later
  kDeadlineExceeded,  ///< it took longer than it may
  kOutOfMemory,       ///< of the host or of a device
  kInternal,          ///< none of these: a fault of the system or of this program
};

/// The name of a code as logs and bodies show it, e.g. "invalid_argument". Lives for ever.
std::string_view name_of(ErrorCode code);

/// A code and one sentence that names the thing and the numbers (lower case, no full stop).
/// A plain value: copyable, safe to hand to another thread.
class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message, int native_code = 0)
      : code_(code), native_code_(native_code), message_(std::move(message)) {}

  [[nodiscard]] ErrorCode code() const { return code_; }
  /// The number that the layer below gave (errno, a CUresult), where a caller can make use of it; else 0.
  [[nodiscard]] int native_code() const { return native_code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  ErrorCode code_;
  int native_code_;
  std::string message_;
};

/// A T or an Error, with the member names of std::expected. One thread at a time, like T itself.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  /// Requires: has_value().
  [[nodiscard]] T& value() & {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const& {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && {
    assert(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  /// As value().
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Requires: !has_value().
  [[nodiscard]] const Error& error() const& {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }
  [[nodiscard]] Error&& error() && {
    assert(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

/// Success, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  /// Requires: !has_value().
  [[nodiscard]] const Error& error() const& {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }
  [[nodiscard]] Error&& error() && {
    assert(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<std::monostate, Error> state_;
};

using Status = Result<void>;

}  // namespace tessera

#define TESSERA_CONCAT_INNER(a, b) a##b
#define TESSERA_CONCAT(a, b) TESSERA_CONCAT_INNER(a, b)

/// Returns the error of `expression` (a Result) from the enclosing function, if it holds one.
#define TESSERA_RETURN_IF_ERROR(expression)                                \
  do {                                                                     \
    if (auto tessera_status = (expression); !tessera_status.has_value()) { \
      return std::move(tessera_status).error();                            \
    }                                                                      \
  } while (false)

/// Declares `declaration` from the value of `expression`, or returns its error from the enclosing function. Stands for
/// several statements: not the body of an `if` without braces, and once a line.
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot stand in parentheses
#define TESSERA_ASSIGN_OR_RETURN(declaration, expression) \
  TESSERA_ASSIGN_OR_RETURN_INNER(TESSERA_CONCAT(tessera_result_, __LINE__), declaration, expression)
#define TESSERA_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                           \
  if (!result.has_value()) {                                            \
    return std::move(result).error();                                   \
  }                                                                     \
  declaration = std::move(result).value()
// NOLINTEND(bugprone-macro-parentheses)
