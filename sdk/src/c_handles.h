// What the entry points of tessera.h share: handles, and the catch-all that each of them ends in.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "tessera/array/array.h"
#include "tessera/array/value.h"
#include "tessera/base/result.h"
#include "tessera/sdk/client_error.h"
#include "tessera/tessera.h"

/// What a caller learns of a failure. Immutable.
struct tessera_error {  // NOLINT(readability-identifier-naming)
  tessera_status status = TESSERA_ERROR_INTERNAL;
  int http_status = 0;
  std::string text;
  tessera::Value items = tessera::List();
};

namespace tessera {

/// A handle of a value or an array is the address of one, so that parts of values need no handles of their own.
inline Value* value_of(tessera_value* handle) {
  return reinterpret_cast<Value*>(handle);
}
inline const Value* value_of(const tessera_value* handle) {
  return reinterpret_cast<const Value*>(handle);
}
inline const tessera_value* handle_of(const Value& value) {
  return reinterpret_cast<const tessera_value*>(&value);
}
inline const Array* array_of(const tessera_array* handle) {
  return reinterpret_cast<const Array*>(handle);
}
inline const tessera_array* handle_of(const Array& array) {
  return reinterpret_cast<const tessera_array*>(&array);
}
/// Handles that the caller owns. Throw std::bad_alloc.
inline tessera_value* new_handle(Value value) {
  return reinterpret_cast<tessera_value*>(new Value(std::move(value)));
}
inline tessera_array* new_handle(Array array) {
  return reinterpret_cast<tessera_array*>(new Array(std::move(array)));
}

[[noreturn]] void throw_null_argument(const char* name);
/// Throws ClientError (kInvalidArgument) for NULL.
template <class T>
void require_argument(const T* argument, const char* name) {
  if (argument == nullptr) {
    throw_null_argument(name);
  }
}
/// The value of a handle. Throws ValueError for NULL.
[[nodiscard]] const Value& require_value(const tessera_value* handle);

/// An Error on its way to a status.
struct ErrorException {
  Error error;
};

/// What a result holds. Throws ErrorException.
template <class T>
T unwrapped(Result<T> result) {
  if (!result) {
    throw ErrorException{std::move(result).error()};
  }
  if constexpr (!std::is_void_v<T>) {
    return *std::move(result);
  }
}

[[nodiscard]] tessera_status status_of(ErrorCode code);
[[nodiscard]] tessera_status status_of(ClientError::Kind kind);

/// In a handler: the status of the exception, and its description in `*error` unless `error` is NULL.
[[nodiscard]] tessera_status describe_exception(tessera_error** error) noexcept;

/// Runs an entry point. Nothing leaves it.
template <class Function>
[[nodiscard]] tessera_status guarded(tessera_error** error, const Function& function) noexcept {
  if (error != nullptr) {
    *error = nullptr;
  }
  try {
    function();
    return TESSERA_OK;
  } catch (...) {
    return describe_exception(error);
  }
}

/// What the function returns, or nothing (NULL, 0) if it throws.
template <class Function>
[[nodiscard]] auto guarded_or_nothing(const Function& function) noexcept -> decltype(function()) {
  try {
    return function();
  } catch (...) {
    return {};
  }
}

}  // namespace tessera
