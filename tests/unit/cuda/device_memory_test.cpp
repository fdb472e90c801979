#include "tessera/cuda/device_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "stand_in_test.h"
#include "tessera/cuda/driver_functions.h"

namespace tessera {
namespace {

using DeviceMemoryTest = StandInTest;
constexpr std::uint64_t kOneSecondUs = 1000000;

TEST_F(DeviceMemoryTest, FreesWhatItOwns) {
  {
    DeviceMemory first = allocate(1000);
    DeviceMemory second = std::move(first);
    EXPECT_EQ(stand_in().counts().live_allocations, 1U);
    second = allocate(2000);
    EXPECT_EQ(second.size_bytes(), 2000U);
  }
  EXPECT_EQ(stand_in().counts().live_allocations, 0U);
}

TEST_F(DeviceMemoryTest, PassesErrorsOn) {
  EXPECT_EQ(DeviceMemory::allocate(gpu(), 0).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(DeviceMemory::allocate(gpu(), std::numeric_limits<std::size_t>::max() / 2).error().code(),
            ErrorCode::kOutOfMemory);
}

TEST_F(DeviceMemoryTest, FreesOnAThreadThatNeverUsedTheGpu) {
  DeviceMemory memory = allocate(1000);
  std::thread([owned = std::move(memory)] {}).join();
  EXPECT_EQ(stand_in().counts().live_allocations, 0U);
}

TEST_F(DeviceMemoryTest, NamesTheWholeAllocationByAnyOfItsBytes) {
  const DeviceMemory memory = allocate(4096);
  const DeviceMemory other = allocate(4096);
  const IpcMemHandle handle = ipc_handle_of(*gpu(), memory.address()).value();
  EXPECT_EQ(ipc_handle_of(*gpu(), memory.address() + 512).value(), handle);
  EXPECT_NE(ipc_handle_of(*gpu(), other.address()).value(), handle);
}

TEST_F(DeviceMemoryTest, DoesNotMapItsOwnMemory) {
  const DeviceMemory memory = allocate(4096);
  const Result<IpcMapping> mapping = IpcMapping::open(gpu(), ipc_handle_of(*gpu(), memory.address()).value());
  ASSERT_FALSE(mapping.has_value());
  EXPECT_EQ(mapping.error().native_code(), 201);
}

TEST_F(DeviceMemoryTest, KnowsWhatAnAddressIs) {
  const DeviceMemory memory = allocate(4096);
  const std::optional<PointerInfo> info = query_pointer(*driver(), memory.address() + 100).value();
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->ordinal, 0);
  EXPECT_TRUE(info->is_device_memory);
  EXPECT_FALSE(info->is_managed);
  EXPECT_TRUE(info->is_ipc_capable);
  EXPECT_EQ(info->range_address, memory.address());
  EXPECT_EQ(info->range_bytes, 4096U);
  EXPECT_NE(info->buffer_id, query_pointer(*driver(), allocate(16).address()).value()->buffer_id);
}

TEST_F(DeviceMemoryTest, KnowsMemoryThatHasNoHandle) {
  const Result<ContextScope> scope = gpu()->enter();
  const std::uint64_t managed = stand_in().allocate_managed(4096);
  const std::uint64_t pooled = stand_in().allocate_from_pool(4096);
  {
    const testing::VirtualMemory virtual_memory(stand_in(), std::size_t{2} << 20U, 0);
    for (const std::uint64_t address : {managed, pooled, virtual_memory.address()}) {
      const std::optional<PointerInfo> info = query_pointer(*driver(), address).value();
      ASSERT_TRUE(info.has_value());
      EXPECT_TRUE(info->is_device_memory);
      EXPECT_EQ(info->is_managed, address == managed);
      EXPECT_FALSE(info->is_ipc_capable);
      EXPECT_EQ(ipc_handle_of(*gpu(), address).error().code(), ErrorCode::kInvalidArgument);
    }
  }
  stand_in().free(managed);
  stand_in().free(pooled);
}

TEST_F(DeviceMemoryTest, DoesNotKnowHostMemory) {
  int variable = 0;
  EXPECT_FALSE(query_pointer(*driver(), reinterpret_cast<std::uint64_t>(&variable)).value().has_value());
  EXPECT_FALSE(query_pointer(*driver(), 0).value().has_value());
}

TEST_F(DeviceMemoryTest, CopiesThereAndBack) {
  const DeviceMemory memory = allocate(5000);
  const std::vector<std::byte> bytes = pattern(5000);
  ASSERT_TRUE(copy_to_device(*gpu(), memory.address(), bytes).has_value());
  EXPECT_EQ(bytes_at(memory.address(), 5000), bytes);
}

TEST_F(DeviceMemoryTest, HasTheBytesThereWhenACopyReturns) {
  const DeviceMemory source = allocate(5000);
  const DeviceMemory target = allocate(5000);
  const std::vector<std::byte> bytes = pattern(5000);
  ASSERT_TRUE(copy_to_device(*gpu(), source.address(), bytes).has_value());
  stand_in().set_delay_us(kOneSecondUs);
  ASSERT_TRUE(copy_on_device(*gpu(), target.address(), source.address(), 5000).has_value());
  stand_in().set_delay_us(0);
  std::vector<std::byte> seen(5000);
  read_at_once(seen, target.address());
  EXPECT_EQ(seen, bytes);
}

TEST_F(DeviceMemoryTest, ClearsBytes) {
  const DeviceMemory memory = allocate(100);
  ASSERT_TRUE(copy_to_device(*gpu(), memory.address(), pattern(100)).has_value());
  ASSERT_TRUE(clear_on_device(*gpu(), memory.address() + 10, 80).has_value());
  std::vector<std::byte> expected = pattern(100);
  std::fill_n(expected.begin() + 10, 80, std::byte{0});
  EXPECT_EQ(bytes_at(memory.address(), 100), expected);
}

TEST_F(DeviceMemoryTest, CopiesNothingWithoutACall) {
  const std::int64_t before = stand_in().calls("cuStreamSynchronize");
  EXPECT_TRUE(copy_on_device(*gpu(), 0, 0, 0).has_value());
  EXPECT_TRUE(copy_to_host(*gpu(), {}, 0).has_value());
  EXPECT_TRUE(copy_to_device(*gpu(), 0, {}).has_value());
  EXPECT_TRUE(clear_on_device(*gpu(), 0, 0).has_value());
  EXPECT_EQ(stand_in().calls("cuStreamSynchronize"), before);
}

TEST_F(DeviceMemoryTest, PassesErrorsOfCopiesOn) {
  const DeviceMemory memory = allocate(100);
  stand_in().fail_next("cuMemcpyDtoDAsync_v2", 700);
  EXPECT_EQ(copy_on_device(*gpu(), memory.address(), memory.address() + 50, 50).error().native_code(), 700);
  stand_in().fail_next("cuMemcpyHtoDAsync_v2", 1);
  EXPECT_EQ(copy_to_device(*gpu(), memory.address(), pattern(100)).error().native_code(), 1);
}

// Elements of 4 bytes, in the order in which the packing of this view has them.
class PackOnDeviceTest : public StandInTest {
 protected:
  [[nodiscard]] std::vector<std::int32_t> packed(std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
                                                 std::size_t first) const {
    constexpr std::size_t kSource = 24;
    std::vector<std::int32_t> numbers(kSource);
    for (std::size_t i = 0; i != kSource; ++i) {
      numbers[i] = static_cast<std::int32_t>(i);
    }
    const DeviceMemory source = allocate(kSource * 4);
    EXPECT_TRUE(copy_to_device(*gpu(), source.address(), std::as_bytes(std::span(numbers))).has_value());
    std::size_t elements = 1;
    for (std::size_t i = 0; i != shape.size(); ++i) {
      elements *= static_cast<std::size_t>(shape[i]);
      strides[i] *= 4;
    }
    const DeviceMemory target = allocate(elements * 4);
    stand_in().set_delay_us(kOneSecondUs);
    EXPECT_TRUE(pack_on_device(*gpu(), target.address(), source.address() + first * 4, 4, shape, strides).has_value());
    stand_in().set_delay_us(0);
    std::vector<std::int32_t> result(elements);
    read_at_once(std::as_writable_bytes(std::span(result)), target.address());
    return result;
  }
};

using Values = std::vector<std::int32_t>;

TEST_F(PackOnDeviceTest, TakesColumns) {
  EXPECT_EQ(packed({4, 2}, {6, 1}, 1), (Values{1, 2, 7, 8, 13, 14, 19, 20}));
}

TEST_F(PackOnDeviceTest, Transposes) {
  EXPECT_EQ(packed({3, 2}, {1, 3}, 0), (Values{0, 3, 1, 4, 2, 5}));
}

TEST_F(PackOnDeviceTest, GoesBackwards) {
  EXPECT_EQ(packed({4}, {-2}, 7), (Values{7, 5, 3, 1}));
  EXPECT_EQ(packed({2, 3}, {-6, 1}, 6), (Values{6, 7, 8, 0, 1, 2}));
}

TEST_F(PackOnDeviceTest, Repeats) {
  EXPECT_EQ(packed({5}, {0}, 9), (Values{9, 9, 9, 9, 9}));
  EXPECT_EQ(packed({2, 3}, {1, 0}, 4), (Values{4, 4, 4, 5, 5, 5}));
}

TEST_F(PackOnDeviceTest, RefusesStridesThatDoNotFit) {
  const std::vector<std::int64_t> shape = {3};
  const std::vector<std::int64_t> strides = {std::numeric_limits<std::int64_t>::max()};
  EXPECT_EQ(pack_on_device(*gpu(), 0, 0, 4, shape, strides).error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace tessera
