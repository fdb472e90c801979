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

TEST(ShortTimeTest, ReadsMicrosecondsAndMilliseconds) {
  EXPECT_EQ(parse_short_time("100us"), std::chrono::microseconds(100));
  EXPECT_EQ(parse_short_time("2ms"), std::chrono::microseconds(2000));
  EXPECT_EQ(parse_short_time("1000ms"), std::chrono::seconds(1));
  EXPECT_EQ(parse_short_time("0"), std::chrono::microseconds(0));
  for (const char* other : {"", "us", "100", "1s", "-1us", "1.5ms", "1001ms", "1000001us", "100 us", "99999999999us"}) {
    EXPECT_EQ(parse_short_time(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace tessera
