#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "c_handles.h"

namespace tessera {
namespace {

// The status of an entry point that throws; its text is what() of the exception.
template <class Exception>
tessera_status status_after(const Exception& exception, std::string* text = nullptr) {
  tessera_error* error = nullptr;
  const tessera_status status = guarded(&error, [&exception] { throw exception; });
  EXPECT_EQ(tessera_error_status(error), status);
  if (text != nullptr) {
    *text = tessera_error_text(error);
  }
  tessera_error_release(error);
  return status;
}

TEST(CStatusTest, HasOneForEachKindOfClientError) {
  using Kind = ClientError::Kind;
  const std::pair<Kind, tessera_status> expected[] = {{Kind::kInvalidArgument, TESSERA_ERROR_INVALID_ARGUMENT},
                                                      {Kind::kNotImplemented, TESSERA_ERROR_NOT_IMPLEMENTED},
                                                      {Kind::kConnection, TESSERA_ERROR_CONNECTION},
                                                      {Kind::kTimeout, TESSERA_ERROR_TIMEOUT},
                                                      {Kind::kCancelled, TESSERA_ERROR_CANCELLED},
                                                      {Kind::kRefused, TESSERA_ERROR_REFUSED},
                                                      {Kind::kStatus, TESSERA_ERROR_HTTP_STATUS},
                                                      {Kind::kBadResponse, TESSERA_ERROR_BAD_RESPONSE},
                                                      {Kind::kGpu, TESSERA_ERROR_GPU},
                                                      {Kind::kTestFailed, TESSERA_ERROR_TEST_FAILED}};
  for (const auto& [kind, status] : expected) {
    EXPECT_EQ(status_after(ClientError(kind, "text")), status);
  }
}

TEST(CStatusTest, HasOneForEachErrorCode) {
  const std::pair<ErrorCode, tessera_status> expected[] = {
      {ErrorCode::kInvalidArgument, TESSERA_ERROR_INVALID_ARGUMENT},
      {ErrorCode::kNotFound, TESSERA_ERROR_GPU},
      {ErrorCode::kTooLarge, TESSERA_ERROR_INVALID_ARGUMENT},
      {ErrorCode::kUnavailable, TESSERA_ERROR_GPU},
      {ErrorCode::kDeadlineExceeded, TESSERA_ERROR_GPU},
      {ErrorCode::kOutOfMemory, TESSERA_ERROR_OUT_OF_MEMORY},
      {ErrorCode::kInternal, TESSERA_ERROR_GPU}};
  for (const auto& [code, status] : expected) {
    std::string text;
    EXPECT_EQ(status_after(ErrorException{Error(code, "a sentence")}, &text), status);
    EXPECT_EQ(text, "a sentence");
  }
}

TEST(CStatusTest, HasOneForOtherExceptions) {
  EXPECT_EQ(status_after(ValueError("text")), TESSERA_ERROR_WRONG_KIND);
  EXPECT_EQ(status_after(std::invalid_argument("text")), TESSERA_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_after(std::bad_alloc()), TESSERA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(status_after(std::out_of_range("text")), TESSERA_ERROR_INTERNAL);
  EXPECT_EQ(status_after(7), TESSERA_ERROR_INTERNAL);
}

TEST(CStatusTest, ClearsTheErrorOfACallThatSucceeds) {
  tessera_error stale;
  tessera_error* error = &stale;
  EXPECT_EQ(guarded(&error, [] {}), TESSERA_OK);
  EXPECT_EQ(error, nullptr);
  EXPECT_EQ(guarded(nullptr, [] { throw 7; }), TESSERA_ERROR_INTERNAL);
}

}  // namespace
}  // namespace tessera
