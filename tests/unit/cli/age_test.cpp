#include "age.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(ParseAgeTest, TakesANumberWithAUnit) {
  EXPECT_EQ(parse_age("90s"), std::chrono::seconds(90));
  EXPECT_EQ(parse_age("30m"), std::chrono::minutes(30));
  EXPECT_EQ(parse_age("24h"), std::chrono::hours(24));
  EXPECT_EQ(parse_age("7d"), std::chrono::hours(168));
  for (const char* other : {"", "s", "5", "-1s", "1.5h", "1w", " 1s", "99999999999s"}) {
    EXPECT_EQ(parse_age(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace tessera
