#include "tessera/base/usable_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/temp_folder.h"

namespace tessera {
namespace {

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;

class UsableMemoryTest : public ::testing::Test {
 protected:
  UsableMemoryTest() { root.write("proc/meminfo", "MemTotal:        8388608 kB\nMemFree:          1 kB\n"); }

  const testing::TempFolder root;
};

TEST_F(UsableMemoryTest, IsThatOfTheMachineWithoutGroups) {
  EXPECT_EQ(usable_memory_bytes(root.path()), 8 * kGibibyte);
  root.write("proc/self/cgroup", "0::/a\n");
  EXPECT_EQ(usable_memory_bytes(root.path()), 8 * kGibibyte);
  root.write("sys/fs/cgroup/a/memory.max", "max\n");
  EXPECT_EQ(usable_memory_bytes(root.path()), 8 * kGibibyte);
}

TEST_F(UsableMemoryTest, IsThatOfTheNarrowestGroupOfVersion2) {
  root.write("proc/self/cgroup", "0::/a/b/c\n");
  root.write("sys/fs/cgroup/a/memory.max", "2147483648\n");
  root.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  root.write("sys/fs/cgroup/a/b/c/memory.max", "3221225472\n");
  EXPECT_EQ(usable_memory_bytes(root.path()), 2 * kGibibyte);
}

TEST_F(UsableMemoryTest, IsThatOfAContainerWhoseGroupIsTheTop) {
  root.write("proc/self/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_EQ(usable_memory_bytes(root.path()), kGibibyte);
  root.write("proc/self/cgroup", "0::/../outside\n");
  EXPECT_EQ(usable_memory_bytes(root.path()), kGibibyte);
}

TEST_F(UsableMemoryTest, IsThatOfAGroupOfVersion1) {
  root.write("proc/self/cgroup", "12:memoryless:/x\n4:cpu,memory:/docker/1f\n1:name=systemd:/docker/1f\n0::/x\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  EXPECT_EQ(usable_memory_bytes(root.path()), kGibibyte);
  root.write("sys/fs/cgroup/memory/docker/1f/memory.limit_in_bytes", "536870912\n");
  EXPECT_EQ(usable_memory_bytes(root.path()), kGibibyte / 2);
}

TEST_F(UsableMemoryTest, TakesVersion1sHugeNumberForNoLimit) {
  root.write("proc/self/cgroup", "4:memory:/\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(usable_memory_bytes(root.path()), 8 * kGibibyte);
}

TEST(UsableMemoryOfNoFilesTest, IsWhatTheSystemSays) {
  const testing::TempFolder empty;
  EXPECT_EQ(usable_memory_bytes(empty.path()),
            static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::getpagesize()));
}

TEST(UsableMemoryOfThisProcessTest, IsSomeAndNotMoreThanTheMachineHas) {
  const std::uint64_t bytes = usable_memory_bytes();
  EXPECT_GT(bytes, std::uint64_t{1} << 24);
  EXPECT_LE(bytes, static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::getpagesize()));
}

}  // namespace
}  // namespace tessera
