#include "tessera/base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace tessera {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) {
    return Error(ErrorCode::kInvalidArgument, std::to_string(number) + " is odd");
  }
  return number / 2;
}

Result<int> quarter(int number) {
  TESSERA_ASSIGN_OR_RETURN(const int first, half(number));
  TESSERA_ASSIGN_OR_RETURN(const int second, half(first));
  return second;
}

Status check_even(int number) {
  TESSERA_RETURN_IF_ERROR(half(number));
  return {};
}

TEST(ResultTest, HoldsValueOrError) {
  EXPECT_EQ(half(6).value(), 3);
  EXPECT_EQ(half(7).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(half(7).error().message(), "7 is odd");
}

TEST(ResultTest, MacrosPassErrorsOn) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(10).error().message(), "5 is odd");
  EXPECT_TRUE(check_even(2).has_value());
  EXPECT_EQ(check_even(3).error().message(), "3 is odd");
}

TEST(ResultTest, HandsOutMoveOnlyValues) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(4));
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 4);
}

TEST(ResultTest, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    names.insert(name_of(static_cast<ErrorCode>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ErrorCode::kInternal) + 1);
  EXPECT_EQ(name_of(ErrorCode::kDeadlineExceeded), "deadline_exceeded");
}

}  // namespace
}  // namespace tessera
