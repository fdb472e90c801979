#include "port_range.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace tessera {
namespace {

// "first-last", or "nothing".
std::string read_back(const char* text) {
  const std::optional<PortRange> range = parse_port_range(text);
  return range ? std::to_string(range->first) + "-" + std::to_string(range->last) : "nothing";
}

TEST(PortRangeTest, ReadsOnePort) {
  EXPECT_EQ(read_back("8080"), "8080-8080");
  EXPECT_EQ(read_back("65535"), "65535-65535");
}

TEST(PortRangeTest, ReadsARange) {
  EXPECT_EQ(read_back("8000-8010"), "8000-8010");
}

TEST(PortRangeTest, ReadsTheSystemsChoiceButNoRangeOfIt) {
  EXPECT_EQ(read_back("0"), "0-0");
  EXPECT_EQ(read_back("0-10"), "nothing");
}

TEST(PortRangeTest, RefusesOtherTexts) {
  for (const char* text : {"", "-", "8000-", "-8000", "8010-8000", "65536", "1-65536", "8000 ", "+1", "0x10"}) {
    EXPECT_EQ(read_back(text), "nothing") << text;
  }
}

}  // namespace
}  // namespace tessera
