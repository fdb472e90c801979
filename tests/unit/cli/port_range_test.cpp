#include "port_range.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(PortRangeTest, ReadsOnePort) {
  const auto range = parse_port_range("8080");
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->first, 8080);
  EXPECT_EQ(range->last, 8080);
}

TEST(PortRangeTest, ReadsARange) {
  const auto range = parse_port_range("8000-8010");
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->first, 8000);
  EXPECT_EQ(range->last, 8010);
}

TEST(PortRangeTest, ReadsTheSystemsChoice) {
  ASSERT_TRUE(parse_port_range("0").has_value());
  EXPECT_FALSE(parse_port_range("0-10").has_value());
}

TEST(PortRangeTest, RefusesOtherTexts) {
  for (const char* text : {"", "-", "8000-", "-8000", "8010-8000", "65536", "1-65536", "8000 ", "+1", "0x10"}) {
    EXPECT_FALSE(parse_port_range(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace tessera
