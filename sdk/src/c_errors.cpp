#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "c_handles.h"

namespace tessera {
namespace {

Value value_of_items(const std::vector<RefusedItem>& items) {
  List list;
  for (const RefusedItem& item : items) {
    list.emplace_back(Object{
        {"type", item.type}, {"loc", item.place}, {"msg", item.message}, {"input", item.input}, {"ctx", item.context}});
  }
  return list;
}

// The description of the exception that is being handled.
tessera_error description() {
  try {
    throw;
  } catch (const ClientError& error) {
    return {status_of(error.kind()), error.status().value_or(0), error.what(), value_of_items(error.items())};
  } catch (const ErrorException& failure) {
    return {status_of(failure.error.code()), 0, failure.error.message()};
  } catch (const ValueError& error) {
    return {TESSERA_ERROR_WRONG_KIND, 0, error.what()};
  } catch (const std::invalid_argument& error) {
    return {TESSERA_ERROR_INVALID_ARGUMENT, 0, error.what()};
  } catch (const std::bad_alloc&) {
    return {TESSERA_ERROR_OUT_OF_MEMORY, 0, "there is no memory for it"};
  } catch (const std::exception& error) {
    return {TESSERA_ERROR_INTERNAL, 0, error.what()};
  } catch (...) {
    return {TESSERA_ERROR_INTERNAL, 0, "an unknown exception"};
  }
}

}  // namespace

void throw_null_argument(const char* name) {
  throw ClientError(ClientError::Kind::kInvalidArgument, std::string(name) + " is NULL");
}

const Value& require_value(const tessera_value* handle) {
  if (handle == nullptr) {
    throw ValueError("there is no value: it is NULL");
  }
  return *value_of(handle);
}

tessera_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kTooLarge:
      return TESSERA_ERROR_INVALID_ARGUMENT;
    case ErrorCode::kOutOfMemory:
      return TESSERA_ERROR_OUT_OF_MEMORY;
    // What the API asks of this process, and not of a server, fails otherwise on the GPU alone.
    case ErrorCode::kNotFound:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kInternal:
      break;
  }
  return TESSERA_ERROR_GPU;
}

tessera_status status_of(ClientError::Kind kind) {
  switch (kind) {
    case ClientError::Kind::kInvalidArgument:
      return TESSERA_ERROR_INVALID_ARGUMENT;
    case ClientError::Kind::kNotImplemented:
      return TESSERA_ERROR_NOT_IMPLEMENTED;
    case ClientError::Kind::kConnection:
      return TESSERA_ERROR_CONNECTION;
    case ClientError::Kind::kTimeout:
      return TESSERA_ERROR_TIMEOUT;
    case ClientError::Kind::kCancelled:
      return TESSERA_ERROR_CANCELLED;
    case ClientError::Kind::kRefused:
      return TESSERA_ERROR_REFUSED;
    case ClientError::Kind::kStatus:
      return TESSERA_ERROR_HTTP_STATUS;
    case ClientError::Kind::kBadResponse:
      return TESSERA_ERROR_BAD_RESPONSE;
    case ClientError::Kind::kGpu:
      return TESSERA_ERROR_GPU;
    case ClientError::Kind::kTestFailed:
      return TESSERA_ERROR_TEST_FAILED;
  }
  return TESSERA_ERROR_INTERNAL;
}

tessera_status describe_exception(tessera_error** error) noexcept {
  try {
    tessera_error described = description();
    const tessera_status status = described.status;
    if (error != nullptr) {
      *error = new (std::nothrow) tessera_error(std::move(described));
    }
    return status;
  } catch (...) {
    return TESSERA_ERROR_OUT_OF_MEMORY;  // while the description was made
  }
}

}  // namespace tessera

const char* tessera_version() {
  return TESSERA_VERSION;
}

tessera_status tessera_error_status(const tessera_error* error) {
  return error->status;
}

const char* tessera_error_text(const tessera_error* error) {
  return error->text.c_str();
}

int tessera_error_http_status(const tessera_error* error) {
  return error->http_status;
}

const tessera_value* tessera_error_items(const tessera_error* error) {
  return tessera::handle_of(error->items);
}

void tessera_error_release(tessera_error* error) {
  delete error;
}
