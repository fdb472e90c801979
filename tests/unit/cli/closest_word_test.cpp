#include "closest_word.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tessera {
namespace {

const std::vector<std::string> kWords = {"apply", "jacobian", "jacobian-vector-product", "health"};

TEST(ClosestWordTest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(find_closest_word("aply", kWords), "apply");
  EXPECT_EQ(find_closest_word("aplpy", kWords), "apply");
  EXPECT_EQ(find_closest_word("jacobain", kWords), "jacobian");
}

TEST(ClosestWordTest, FindsNothingFarOff) {
  EXPECT_EQ(find_closest_word("serve", kWords), std::nullopt);
  EXPECT_EQ(find_closest_word("", kWords), std::nullopt);
  EXPECT_EQ(find_closest_word(std::string(100000, 'a'), kWords), std::nullopt);
}

}  // namespace
}  // namespace tessera
