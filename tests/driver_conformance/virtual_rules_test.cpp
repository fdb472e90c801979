// Virtual memory management, and its descriptors.
#include <unistd.h>

#include "rule_test.h"
#include "virtual_memory.h"

namespace tessera::driver_conformance {
namespace {

class VirtualRules : public RuleTest {
 protected:
  void SetUp() override {
    RuleTest::SetUp();
    if (attribute(102) == 0 || attribute(103) == 0) {
      GTEST_SKIP() << "no virtual memory management with file descriptors here";
    }
  }
};

TEST_F(VirtualRules, SizeIsAMultipleOfTheGranularity) {
  AllocationProperties properties;
  std::size_t granularity = 0;
  EXPECT_EQ(driver().cuMemGetAllocationGranularity(&granularity, &properties, 0), kSuccess);
  EXPECT_EQ(kPage % granularity, 0U);
  report_answer("granularity", std::to_string(granularity));
  VirtualMemory memory;
  EXPECT_EQ(memory.create(6912, 0), kInvalidValue);
}

TEST_F(VirtualRules, MemoryNeedsAccess) {
  Peer peer;
  ASSERT_EQ(peer.start(), kSuccess);
  Code code = peer.ask({.order = Order::kUseWithoutAccess, .a = kPage}).code;
  EXPECT_GT(code, kSuccess);
  report_answer("fill of memory without access", code);
}

TEST_F(VirtualRules, ReadOnlyMemoryIsNotWritten) {
  Peer peer;
  ASSERT_EQ(peer.start(), kSuccess);
  report_answer("fill of memory with access to read", peer.ask({.order = Order::kWriteReadOnly, .a = kPage}).code);
}

TEST_F(VirtualRules, MappingKeepsTheMemory) {
  VirtualMemory memory;
  ASSERT_EQ(memory.create(kPage, 0), kSuccess);
  ASSERT_EQ(memory.map(3), kSuccess);
  fill(memory.address(), kPage, 3);
  EXPECT_EQ(memory.release(), kSuccess);
  EXPECT_EQ(look(memory.address()), "all 3");
}

TEST_F(VirtualRules, AddressesMustBeReserved) {
  VirtualMemory memory;
  ASSERT_EQ(memory.create(kPage, 0), kSuccess);
  Address address = 0;
  ASSERT_EQ(driver().cuMemAddressReserve(&address, kPage, 0, 0, 0), kSuccess);
  ASSERT_EQ(driver().cuMemAddressFree(address, kPage), kSuccess);
  EXPECT_NE(driver().cuMemMap(address, kPage, 0, memory.handle(), 0), kSuccess);
}

TEST_F(VirtualRules, OnlyWholeMappingsAreUnmapped) {
  VirtualMemory memory;
  ASSERT_EQ(memory.create(2 * kPage, 0), kSuccess);
  ASSERT_EQ(memory.map(3), kSuccess);
  EXPECT_NE(driver().cuMemUnmap(memory.address(), kPage), kSuccess);
}

TEST_F(VirtualRules, HasNoLegacyHandle) {
  VirtualMemory memory;
  ASSERT_EQ(memory.create(kPage, 0), kSuccess);
  ASSERT_EQ(memory.map(3), kSuccess);
  Handle handle{};
  EXPECT_EQ(driver().cuIpcGetMemHandle(&handle, memory.address()), kInvalidValue);
  std::uint64_t is_capable = 0;
  EXPECT_EQ(driver().cuPointerGetAttribute(&is_capable, 10, memory.address()), kSuccess);
  EXPECT_EQ(is_capable & 0xff, 0U);
}

TEST_F(VirtualRules, HandleIsFoundByAddress) {
  VirtualMemory memory;
  ASSERT_EQ(memory.create(kPage, 0), kSuccess);
  ASSERT_EQ(memory.map(3), kSuccess);
  std::uint64_t handle = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  EXPECT_EQ(driver().cuMemRetainAllocationHandle(&handle, reinterpret_cast<void*>(memory.address() + 100)), kSuccess);
  EXPECT_EQ(driver().cuMemRelease(handle), kSuccess);
  fill(memory.address(), kPage, 2);
  EXPECT_EQ(look(memory.address()), "all 2");
}

TEST_F(VirtualRules, DescriptorOpensInTheSameProcess) {
  VirtualMemory memory;
  ASSERT_EQ(memory.create(kPage, 0), kSuccess);
  ASSERT_EQ(memory.map(3), kSuccess);
  fill(memory.address(), kPage, 4);
  int fd = -1;
  ASSERT_EQ(driver().cuMemExportToShareableHandle(&fd, memory.handle(), 1, 0), kSuccess);
  std::uint64_t handle = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  ASSERT_EQ(driver().cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(std::intptr_t{fd}), 1), kSuccess);
  // The import does not take the descriptor.
  EXPECT_EQ(close(fd), 0);
  VirtualMemory again;
  again.adopt(handle, kPage, 0);
  ASSERT_EQ(again.map(3), kSuccess);
  EXPECT_EQ(look(again.address()), "all 4");
}

TEST_F(VirtualRules, DescriptorKeepsTheMemoryOfADeadProcess) {
  Peer peer;
  ASSERT_EQ(peer.start(), kSuccess);
  Reply exported = peer.ask({.order = Order::kCreateVirtual, .a = kPage, .b = 9});
  ASSERT_EQ(exported.code, kSuccess);
  ASSERT_GE(exported.fd, 0);
  peer.kill();
  free_bytes();
  std::uint64_t handle = 0;
  auto* descriptor = reinterpret_cast<void*>(std::intptr_t{exported.fd});  // NOLINT(performance-no-int-to-ptr)
  EXPECT_EQ(driver().cuMemImportFromShareableHandle(&handle, descriptor, 1), kSuccess);
  EXPECT_EQ(close(exported.fd), 0);
  VirtualMemory memory;
  memory.adopt(handle, kPage, 0);
  ASSERT_EQ(memory.map(3), kSuccess);
  EXPECT_EQ(look(memory.address()), "all 9");
}

}  // namespace
}  // namespace tessera::driver_conformance
