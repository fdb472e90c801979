#include "tessera/base/random_id.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <regex>
#include <set>
#include <thread>
#include <vector>

namespace tessera {
namespace {

TEST(RandomIdTest, HasFormOfUuidVersion4) {
  const std::regex dashed("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  const RandomId id = RandomId::make();
  EXPECT_TRUE(std::regex_match(id.dashed(), dashed)) << id.dashed();
  std::string without_dashes = id.dashed();
  std::erase(without_dashes, '-');
  EXPECT_EQ(id.hex(), without_dashes);
}

TEST(RandomIdTest, ReadsWhatHexWrites) {
  const RandomId id = RandomId::make();
  EXPECT_EQ(RandomId::parse_hex(id.hex()), id);
  EXPECT_EQ(RandomId::parse_hex("0123456789abcdeffedcba9876543210").value_or(id).hex(),
            "0123456789abcdeffedcba9876543210");
}

TEST(RandomIdTest, ReadsNoOtherForm) {
  const std::string hex = "0123456789abcdeffedcba9876543210";
  for (std::size_t place = 0; place < hex.size(); ++place) {
    for (const char wrong : {'A', 'F', 'G', 'g', '/', ':', '`', '-', '_', ' ', '\0', '\x80', '\xff'}) {
      std::string text = hex;
      text[place] = wrong;
      EXPECT_FALSE(RandomId::parse_hex(text)) << text;
    }
  }
  for (const std::string& text : {std::string(), hex + "0", hex.substr(1), " " + hex, RandomId::make().dashed()}) {
    EXPECT_FALSE(RandomId::parse_hex(text)) << text;
  }
}

TEST(RandomIdTest, NeverRepeatsAcrossThreads) {
  std::array<std::vector<RandomId>, 4> made;
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (std::vector<RandomId>& ids : made) {
      threads.emplace_back([&ids] {
        for (int i = 0; i < 1000; ++i) {
          ids.push_back(RandomId::make());
        }
      });
    }
  }
  std::set<RandomId> all;
  for (const std::vector<RandomId>& ids : made) {
    all.insert(ids.begin(), ids.end());
  }
  EXPECT_EQ(all.size(), 4000U);
}

TEST(RandomIdTest, UsesEveryBit) {
  std::array<int, 32> different{};
  const std::string first = RandomId::make().hex();
  for (int i = 0; i < 200; ++i) {
    const std::string other = RandomId::make().hex();
    for (std::size_t digit = 0; digit < different.size(); ++digit) {
      different[digit] += other[digit] != first[digit] ? 1 : 0;
    }
  }
  for (std::size_t digit = 0; digit < different.size(); ++digit) {
    EXPECT_EQ(different[digit] > 0, digit != 12) << "digit " << digit;
  }
}

TEST(RandomIdTest, ChildDoesNotRepeatItsParent) {
  static_cast<void>(RandomId::make());
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string id = RandomId::make().hex();
    ::_exit(::write(ends[1], id.data(), id.size()) == 32 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  std::array<char, 32> childs{};
  ASSERT_EQ(::read(ends[0], childs.data(), childs.size()), 32);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(status, 0);
  EXPECT_NE(RandomId::make().hex(), std::string(childs.data(), childs.size()));
}

}  // namespace
}  // namespace tessera
