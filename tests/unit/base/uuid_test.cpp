#include "tessera/base/uuid.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(UuidTest, IsReadAsItIsWritten) {
  constexpr const char* kText = "5f3b2c1a-0d4e-4a6b-8c9d-0123456789ab";
  const auto uuid = Uuid::parse(kText);
  ASSERT_TRUE(uuid.has_value());
  EXPECT_EQ(uuid->bytes[0], 0x5f);
  EXPECT_EQ(uuid->bytes[15], 0xab);
  EXPECT_EQ(uuid->text(), kText);
}

TEST(UuidTest, HasOneForm) {
  for (const char* text : {"", "5F3b2c1a-0d4e-4a6b-8c9d-0123456789ab", "GPU-5f3b2c1a-0d4e-4a6b-8c9d-0123456789ab",
                           "5f3b2c1a0d4e4a6b8c9d0123456789ab", "5f3b2c1a-0d4e-4a6b-8c9d-0123456789a",
                           "5f3b2c1a-0d4e-4a6b-8c9d-0123456789abc", "5f3b2c1a-0d4e-4a6b-8c9d+0123456789ab",
                           "5f3b2c1g-0d4e-4a6b-8c9d-0123456789ab"}) {
    EXPECT_FALSE(Uuid::parse(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace tessera
