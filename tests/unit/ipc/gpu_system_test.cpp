#include "tessera/ipc/gpu_system.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "ipc_test.h"
#include "tessera/cuda/device_memory.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

TEST(GpuSystemOpenTest, SaysWhyThereIsNoGpu) {
  const testing::ManualClock clock;
  const auto system = GpuSystem::open({.driver_library = "libtessera_no_such_driver.so.1"}, clock);
  ASSERT_TRUE(system->problem().has_value());
  EXPECT_EQ(system->problem()->reason, TransportReason::kNoDriver);
  EXPECT_EQ(system->driver_version(), 0);
  EXPECT_TRUE(system->gpus().empty());
  const auto array = system->allocate(Uuid(), DType::kFloat32, {3});
  ASSERT_FALSE(array.has_value());
  EXPECT_EQ(array.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(array.error().message(), system->problem()->sentence);
  EXPECT_FALSE(system->wrap(DType::kFloat32, {0}, {}).has_value());
  const auto transport = make_cuda_ipc(system);
  EXPECT_EQ(transport->problem()->reason, TransportReason::kNoDriver);
  EXPECT_EQ(transport->explain(array.error()).reason, TransportReason::kNoDriver);
}

using GpuSystemTest = IpcTest;

TEST_F(GpuSystemTest, KnowsItsGpus) {
  EXPECT_EQ(system().driver_version(), 13000);
  ASSERT_EQ(system().gpus().size(), 2U);
  EXPECT_EQ(system().find(gpu()->uuid()), gpu());
  EXPECT_EQ(system().find(Uuid()), nullptr);
  EXPECT_FALSE(transport().problem());
}

TEST_F(GpuSystemTest, AllocatesOnTheGpuThatIsNamed) {
  const Uuid& second = system().gpus()[1]->uuid();
  const Array array = system().allocate(second, DType::kFloat64, {2, 3}).value();
  EXPECT_TRUE(array.is_on_device());
  EXPECT_EQ(array.device()->gpu(), second);
  EXPECT_EQ(array.device()->size_bytes(), 48U);
  EXPECT_EQ(system().pool_stats()[1].allocations, 1U);
}

TEST_F(GpuSystemTest, AllocatesNothingForNoElements) {
  const Array array = system().allocate(gpu()->uuid(), DType::kFloat64, {0, 3}).value();
  EXPECT_TRUE(array.is_on_device());
  EXPECT_EQ(array.device()->address(), 0U);
  EXPECT_EQ(system().to_host(array).value().shape(), (Shape{0, 3}));
  EXPECT_EQ(stand_in().counts().live_allocations, 0U);
}

TEST_F(GpuSystemTest, RefusesWhatCannotBe) {
  constexpr std::int64_t kLarge = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_EQ(system().allocate(Uuid(), DType::kFloat64, {1}).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(system().allocate(gpu()->uuid(), DType::kFloat64, {-1}).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(system().allocate(gpu()->uuid(), DType::kFloat64, {kLarge}).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(system().allocate(gpu()->uuid(), DType::kUInt8, {kLarge}).error().code(), ErrorCode::kOutOfMemory);
  EXPECT_EQ(system().to_device(Array::shape_only(DType::kUInt8, {2}), gpu()->uuid()).error().code(),
            ErrorCode::kInvalidArgument);
}

TEST_F(GpuSystemTest, CopiesThereAndBackAndCountsTheWayBack) {
  const Array array = on_gpu(5000, 3);
  EXPECT_EQ(system().counters().copies_to_host, 0U);
  const Array host = system().to_host(array).value();
  EXPECT_FALSE(host.is_on_device());
  expect_pattern(host, 3);
  EXPECT_EQ(system().counters().copies_to_host, 1U);
  EXPECT_EQ(system().counters().copies_to_host_bytes, 5000U);
  (void)system().to_host(host);
  EXPECT_EQ(system().counters().copies_to_host, 1U);
}

TEST_F(GpuSystemTest, CopiesFromGpuToGpu) {
  const Array copy = system().to_device(on_gpu(5000, 4), system().gpus()[1]->uuid()).value();
  EXPECT_EQ(copy.device()->gpu(), system().gpus()[1]->uuid());
  expect_pattern(copy, 4);
}

TEST_F(GpuSystemTest, GivesBackWhatIsIdle) {
  (void)on_gpu(100);
  EXPECT_EQ(stand_in().counts().live_allocations, 1U);
  clock().advance(std::chrono::seconds(30));
  system().trim();
  EXPECT_EQ(stand_in().counts().live_allocations, 0U);
}

// Memory of an author: 24 elements of int32, numbered.
class ForeignMemoryTest : public IpcTest {
 protected:
  ForeignMemoryTest() : memory_(DeviceMemory::allocate(gpu(), kCount * 4).value()) {
    std::vector<std::int32_t> numbers(kCount);
    for (std::size_t i = 0; i != kCount; ++i) {
      numbers[i] = static_cast<std::int32_t>(i);
    }
    EXPECT_TRUE(copy_to_device(*gpu(), memory_.address(), std::as_bytes(std::span(numbers))).has_value());
  }
  [[nodiscard]] Result<Array> view(const Shape& shape, std::vector<std::int64_t> strides_bytes,
                                   std::int64_t first) const {
    ForeignMemory memory;
    memory.address = memory_.address() + static_cast<std::uint64_t>(first * 4);
    memory.strides_bytes = std::move(strides_bytes);
    return system().wrap(DType::kInt32, shape, std::move(memory));
  }
  static std::vector<std::int32_t> numbers_of(const Result<Array>& array) {
    const Array host = array.value().to_host().value();
    return {host.values<std::int32_t>().begin(), host.values<std::int32_t>().end()};
  }
  [[nodiscard]] std::uint64_t address() const { return memory_.address(); }

  static constexpr std::size_t kCount = 24;

 private:
  DeviceMemory memory_;
};

using Numbers = std::vector<std::int32_t>;

TEST_F(ForeignMemoryTest, StaysWhereItIsInCOrder) {
  const Result<Array> array = view({2, 3}, {}, 5);
  EXPECT_EQ(numbers_of(array), (Numbers{5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(array->device()->address(), address() + 20);
  EXPECT_EQ(view({2, 3}, {12, 4}, 5)->device()->address(), address() + 20);
  // An axis of one step may have any stride.
  EXPECT_EQ(view({1, 3}, {-77, 4}, 5)->device()->address(), address() + 20);
}

TEST_F(ForeignMemoryTest, IsPackedWhereItIsNot) {
  EXPECT_EQ(numbers_of(view({2, 2}, {24, 4}, 0)), (Numbers{0, 1, 6, 7}));
  EXPECT_EQ(numbers_of(view({3}, {-8}, 23)), (Numbers{23, 21, 19}));
  EXPECT_EQ(numbers_of(view({3}, {0}, 23)), (Numbers{23, 23, 23}));
  EXPECT_EQ(numbers_of(view({2, 3}, {4, 8}, 0)), (Numbers{0, 2, 4, 1, 3, 5}));
}

TEST_F(ForeignMemoryTest, MustHoldAllElements) {
  EXPECT_TRUE(view({24}, {}, 0).has_value());
  EXPECT_TRUE(view({24}, {-4}, 23).has_value());
  EXPECT_TRUE(view({23}, {}, 1).has_value());
  for (const Result<Array>& array :
       {view({25}, {}, 0), view({24}, {}, 1), view({24}, {-4}, 22), view({2, 2}, {84, 16}, 0),
        view({3}, {std::numeric_limits<std::int64_t>::max()}, 0),
        view({3}, {std::numeric_limits<std::int64_t>::min()}, 0), view({2}, {4, 4}, 0), view({-1}, {}, 0)}) {
    ASSERT_FALSE(array.has_value());
    EXPECT_EQ(array.error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST_F(ForeignMemoryTest, MustBeMemoryOfAGpu) {
  std::int32_t variable = 0;
  ForeignMemory memory;
  memory.address = reinterpret_cast<std::uint64_t>(&variable);
  const Result<Array> array = system().wrap(DType::kInt32, {1}, memory);
  ASSERT_FALSE(array.has_value());
  EXPECT_THAT(array.error().message(), HasSubstr("does not know the address"));
}

TEST_F(ForeignMemoryTest, NeedsNoAddressWithoutElements) {
  const Result<Array> array = system().wrap(DType::kInt32, {0, 4}, {});
  ASSERT_TRUE(array.has_value());
  EXPECT_EQ(array->device()->gpu(), gpu()->uuid());
}

TEST_F(ForeignMemoryTest, IsKeptByItsArrays) {
  auto owner = std::make_shared<int>(0);
  ForeignMemory memory;
  memory.address = address();
  memory.owner = owner;
  Array array = system().wrap(DType::kInt32, {24}, std::move(memory)).value();
  const Array copy = array;
  array = Array();
  EXPECT_EQ(owner.use_count(), 2);
}

TEST_F(ForeignMemoryTest, IsReadWhenItsStreamIsDone) {
  const Result<ContextScope> scope = gpu()->enter();
  void* const stream = stand_in().create_stream();
  stand_in().set_delay_us(kLongTimeUs);
  ForeignMemory memory;
  memory.address = address();
  memory.stream = stream;
  stand_in().fill(address(), 0x11, kCount * 4, stream);
  EXPECT_EQ(numbers_of(system().wrap(DType::kInt32, {1}, memory)), (Numbers{0x11111111}));
  stand_in().fill(address(), 0x22, kCount * 4, stream);
  memory.strides_bytes = {8};
  EXPECT_EQ(numbers_of(system().wrap(DType::kInt32, {2}, memory)), (Numbers{0x22222222, 0x22222222}));
  stand_in().destroy_stream(stream);
}

}  // namespace
}  // namespace tessera
