// What a client may write into its header, and what of it ends a lease.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "support/manual_clock.h"
#include "tessera/export_registry/export_registry.h"
#include "watched_owner.h"

namespace tessera {
namespace {

class LeaseIdsTest : public ::testing::Test {
 protected:
  std::string put() { return registry_.put(nullptr, 1, true, "").hex(); }
  std::uint64_t left() { return registry_.stats().leases; }

  testing::ManualClock clock_;
  ExportRegistry registry_{{}, clock_};
};

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

TEST_F(LeaseIdsTest, EndsEachNamedLease) {
  const std::string first = put();
  const std::string second = put();
  const std::string third = put();
  EXPECT_EQ(registry_.release_named(third + "," + first), 2U);
  EXPECT_EQ(registry_.release_named(second), 1U);
  EXPECT_EQ(left(), 0U);
  EXPECT_EQ(testing::ended(registry_, LeaseEnd::kNamed), 3U);
}

TEST_F(LeaseIdsTest, IgnoresRepeatedUnknownAndEmptyEntries) {
  const std::string id = put();
  put();
  EXPECT_EQ(registry_.release_named(""), 0U);
  EXPECT_EQ(registry_.release_named(",,,"), 0U);
  EXPECT_EQ(registry_.release_named(RandomId::make().hex()), 0U);
  EXPECT_EQ(registry_.release_named("," + id + ",,nonsense," + RandomId::make().hex() + "," + id + ","), 1U);
  EXPECT_EQ(registry_.release_named(id), 0U);
  EXPECT_EQ(left(), 1U);
}

TEST_F(LeaseIdsTest, ComparesVerbatim) {
  const RandomId id = registry_.put(nullptr, 1, true, "");
  const std::string hex = id.hex();
  for (const std::string_view form :
       {" #", "# ", "\t#", "{#}", "0x#", "\"#\"", "##", "#;#", "# , #", "#\r\n", "# ;q=1", "#=", "*", "%"}) {
    std::string text(form);
    for (std::size_t place = text.find('#'); place != std::string::npos; place = text.find('#')) {
      text.replace(place, 1, hex);
    }
    EXPECT_EQ(registry_.release_named(text), 0U) << text;
  }
  for (const std::string& text : {upper_case(hex), id.dashed(), hex.substr(0, 31), hex.substr(0, 8), hex.substr(1)}) {
    EXPECT_EQ(registry_.release_named(text), 0U) << text;
  }
  EXPECT_EQ(registry_.release_named(hex), 1U);
}

TEST_F(LeaseIdsTest, ForgedNeighbourOfAnIdNamesNothing) {
  const std::string hex = put();
  for (std::size_t place = 0; place < hex.size(); ++place) {
    std::string forged = hex;
    forged[place] = forged[place] == '0' ? '1' : '0';
    EXPECT_EQ(registry_.release_named(forged), 0U);
  }
  EXPECT_EQ(left(), 1U);
}

TEST_F(LeaseIdsTest, TakesHeaderOf64KiB) {
  constexpr std::size_t kIds = 65536 / 33;
  std::string header;
  for (std::size_t i = 0; i < kIds; ++i) {
    header += (i == 0 ? "" : ",") + put();
  }
  put();
  EXPECT_EQ(registry_.release_named(header), kIds);
  EXPECT_EQ(registry_.release_named(header), 0U);
  EXPECT_EQ(left(), 1U);
}

TEST_F(LeaseIdsTest, TakesHeaderOfAnything) {
  const std::string id = put();
  EXPECT_EQ(registry_.release_named(std::string(65536, ',')), 0U);
  EXPECT_EQ(registry_.release_named(std::string(65536, 'a')), 0U);
  EXPECT_EQ(registry_.release_named(std::string(65536, '\0')), 0U);
  EXPECT_EQ(registry_.release_named(std::string(65536, '\xff') + "," + id), 1U);
}

}  // namespace
}  // namespace tessera
