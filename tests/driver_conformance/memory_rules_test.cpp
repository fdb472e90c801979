// Allocations, copies, and what is known about an address.
#include <cstring>
#include <vector>

#include "rule_test.h"

namespace tessera::driver_conformance {
namespace {

constexpr int kMemoryType = 2;
constexpr int kBufferId = 7;
constexpr int kDeviceOrdinal = 9;
constexpr int kIsLegacyIpcCapable = 10;
constexpr int kMempoolHandle = 17;

class MemoryRules : public RuleTest {
 protected:
  static std::uint64_t pointer_attribute(int attribute, Address address) {
    std::uint64_t value = 0;
    EXPECT_EQ(driver().cuPointerGetAttribute(&value, attribute, address), kSuccess);
    return value;
  }
};

TEST_F(MemoryRules, NoBytesAreRefused) {
  Address address = 0;
  EXPECT_EQ(driver().cuMemAlloc_v2(&address, 0), kInvalidValue);
}

TEST_F(MemoryRules, MoreThanThereIsIsOutOfMemory) {
  std::size_t total = 0;
  ASSERT_EQ(driver().cuDeviceTotalMem_v2(&total, 0), kSuccess);
  Address address = 0;
  EXPECT_EQ(driver().cuMemAlloc_v2(&address, total + kPage), kOutOfMemory);
}

TEST_F(MemoryRules, AllocationsAreAligned) {
  for (std::size_t size : {1U, 100U, 5000U}) {
    EXPECT_EQ(allocate(size) % 256, 0U);
  }
  EXPECT_EQ(allocate(kPage) % kPage, 0U);
}

TEST_F(MemoryRules, UnknownPointersCannotBeFreed) {
  Address address = allocate(kPage);
  EXPECT_EQ(driver().cuMemFree_v2(address + 512), kInvalidValue);
  free_now(address);
  EXPECT_EQ(driver().cuMemFree_v2(address), kInvalidValue);
}

TEST_F(MemoryRules, AddressRangeIsTheAllocation) {
  Address address = allocate(3000);
  Address base = 0;
  std::size_t size = 0;
  EXPECT_EQ(driver().cuMemGetAddressRange_v2(&base, &size, address + 2999), kSuccess);
  EXPECT_EQ(base, address);
  EXPECT_EQ(size, 3000U);
  EXPECT_EQ(driver().cuMemGetAddressRange_v2(nullptr, &size, address), kSuccess);
  EXPECT_EQ(driver().cuMemGetAddressRange_v2(&base, nullptr, address), kSuccess);
  std::vector<char> host(64);
  EXPECT_NE(driver().cuMemGetAddressRange_v2(&base, &size, reinterpret_cast<Address>(host.data())), kSuccess);
}

TEST_F(MemoryRules, FreeBytesCountAllocations) {
  constexpr std::size_t kSize = 32 * kPage;
  std::size_t before = free_bytes();
  Address address = 0;
  ASSERT_EQ(driver().cuMemAlloc_v2(&address, kSize), kSuccess);
  EXPECT_LE(free_bytes() + kSize, before);
  EXPECT_EQ(driver().cuMemFree_v2(address), kSuccess);
  EXPECT_GE(free_bytes() + kPage, before);
}

TEST_F(MemoryRules, BytesArriveWithoutFurtherSynchronisation) {
  Address address = allocate(kPage, 1);
  std::vector<unsigned char> sent(4096, 7);
  ASSERT_EQ(driver().cuMemcpyHtoD_v2(address, sent.data(), sent.size()), kSuccess);
  // The host memory is free again, whatever the device has done.
  std::memset(sent.data(), 0, sent.size());
  EXPECT_EQ(look(address), "all 7");
  EXPECT_EQ(look(address + 4096), "all 1");
}

TEST_F(MemoryRules, CopiesBeyondAnAllocationAreRefused) {
  Address address = allocate(2 * kPage);
  std::vector<unsigned char> host(64);
  EXPECT_EQ(driver().cuMemcpyDtoH_v2(host.data(), reinterpret_cast<Address>(host.data()), 64), kInvalidValue);
  EXPECT_NE(driver().cuMemcpyDtoH_v2(host.data(), address + (std::uint64_t{1} << 50), 64), kSuccess);
}

TEST_F(MemoryRules, LinesAreCopiedByTheirPitch) {
  constexpr std::size_t kWidth = 64;
  constexpr std::size_t kPitch = 256;
  Address source = allocate(4 * kPitch, 9);
  for (std::size_t line = 0; line < 4; ++line) {
    fill(source + line * kPitch, kWidth, static_cast<unsigned char>(line + 1));
  }
  Address target = allocate(4 * kWidth);
  Copy2D copy;
  copy.source_device = source;
  copy.source_pitch = kPitch;
  copy.target_device = target;
  copy.target_pitch = kWidth;
  copy.width = kWidth;
  copy.height = 4;
  ASSERT_EQ(driver().cuMemcpy2DAsync_v2(&copy, nullptr), kSuccess);
  for (std::size_t line = 0; line < 4; ++line) {
    EXPECT_EQ(look(target + line * kWidth), "all " + std::to_string(line + 1));
  }
  copy.source_pitch = kWidth - 1;
  EXPECT_EQ(driver().cuMemcpy2DAsync_v2(&copy, nullptr), kInvalidValue);
}

TEST_F(MemoryRules, PlainMemoryIsFitForLegacyIpc) {
  Address address = allocate(kPage);
  EXPECT_EQ(pointer_attribute(kIsLegacyIpcCapable, address) & 0xff, 1U);
  EXPECT_EQ(pointer_attribute(kMemoryType, address), 2U);
  EXPECT_EQ(pointer_attribute(kDeviceOrdinal, address), 0U);
  EXPECT_EQ(pointer_attribute(kMempoolHandle, address), 0U);
}

TEST_F(MemoryRules, ManagedMemoryIsNotFitForLegacyIpc) {
  if (attribute(83) == 0) {
    GTEST_SKIP() << "no managed memory here";
  }
  Address address = 0;
  Handle handle{};
  ASSERT_EQ(driver().cuMemAllocManaged(&address, kPage, 1), kSuccess);
  EXPECT_EQ(pointer_attribute(kIsLegacyIpcCapable, address) & 0xff, 0U);
  EXPECT_EQ(driver().cuIpcGetMemHandle(&handle, address), kInvalidValue);
  EXPECT_EQ(driver().cuMemFree_v2(address), kSuccess);
}

TEST_F(MemoryRules, PoolMemoryIsNotFitForLegacyIpc) {
  if (attribute(115) == 0) {
    GTEST_SKIP() << "no memory pools here";
  }
  Address address = 0;
  Handle handle{};
  ASSERT_EQ(driver().cuMemAllocAsync(&address, kPage, nullptr), kSuccess);
  EXPECT_EQ(driver().cuStreamSynchronize(nullptr), kSuccess);
  EXPECT_EQ(pointer_attribute(kIsLegacyIpcCapable, address) & 0xff, 0U);
  EXPECT_NE(pointer_attribute(kMempoolHandle, address), 0U);
  EXPECT_EQ(driver().cuIpcGetMemHandle(&handle, address), kInvalidValue);
  EXPECT_EQ(driver().cuMemFreeAsync(address, nullptr), kSuccess);
  EXPECT_EQ(driver().cuStreamSynchronize(nullptr), kSuccess);
}

TEST_F(MemoryRules, BufferIdNeverComesBack) {
  Address first = allocate(kPage);
  std::uint64_t old = pointer_attribute(kBufferId, first);
  EXPECT_EQ(pointer_attribute(kBufferId, first + 100), old);
  free_now(first);
  EXPECT_NE(pointer_attribute(kBufferId, allocate(kPage)), old);
}

TEST_F(MemoryRules, HostMemoryIsNothingToTheDriver) {
  std::vector<char> host(64);
  auto address = reinterpret_cast<Address>(host.data());
  std::uint64_t value = 7;
  EXPECT_EQ(driver().cuPointerGetAttribute(&value, kBufferId, address), kInvalidValue);
  std::array<int, 2> attributes = {kMemoryType, kBufferId};
  int type = 7;
  std::array<void*, 2> values = {&type, &value};
  EXPECT_EQ(driver().cuPointerGetAttributes(2, attributes.data(), values.data(), address), kSuccess);
  EXPECT_EQ(type, 0);
  EXPECT_EQ(value, 0U);
  Handle handle{};
  EXPECT_EQ(driver().cuIpcGetMemHandle(&handle, address), kInvalidValue);
}

}  // namespace
}  // namespace tessera::driver_conformance
