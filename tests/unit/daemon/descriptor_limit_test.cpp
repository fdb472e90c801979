#include "descriptor_limit.h"

#include <gtest/gtest.h>

#include <limits>

namespace tessera {
namespace {

TEST(DescriptorLimitTest, LeavesConnectionsAsTheyAreWhereDescriptorsSuffice) {
  EXPECT_EQ(connections_within(1'000'000, {.connections = 4096}), 4096U);
  EXPECT_EQ(connections_within(std::numeric_limits<std::size_t>::max(), {.connections = 4096}), 4096U);
}

TEST(DescriptorLimitTest, LeavesDescriptorsForFilesWhereTheyDoNot) {
  const std::size_t connections = connections_within(1024, {.connections = 4096});
  EXPECT_GT(connections, 500U);
  EXPECT_LT(connections, 1024U - 128U);
  EXPECT_LT(connections_within(1024, {.workers = 8, .connections = 4096}), connections);
}

TEST(DescriptorLimitTest, AlwaysLeavesSomeOfBoth) {
  for (const std::size_t descriptors : {std::size_t{0}, std::size_t{1}, std::size_t{20}, std::size_t{100}}) {
    const std::size_t connections = connections_within(descriptors, {.workers = 4096, .connections = 4096});
    EXPECT_GE(connections, 1U);
    EXPECT_LE(connections, std::max<std::size_t>(1, descriptors / 2));
  }
}

}  // namespace
}  // namespace tessera
