#include "tessera/cuda/gpu.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "stand_in_test.h"
#include "tessera/cuda/driver_functions.h"

namespace tessera {
namespace {

class GpuTest : public StandInTest {
 protected:
  [[nodiscard]] CuContext current() const {
    CuContext context = nullptr;
    EXPECT_EQ(driver()->functions().context_get_current(&context), 0);
    return context;
  }
};

TEST_F(GpuTest, ListsWhatIsVisible) {
  ASSERT_EQ(gpus().size(), 2U);
  EXPECT_EQ(gpus()[0]->ordinal(), 0);
  EXPECT_EQ(gpus()[1]->ordinal(), 1);
  EXPECT_NE(gpus()[0]->uuid(), gpus()[1]->uuid());
  EXPECT_FALSE(gpu()->name().empty());
  EXPECT_FALSE(gpu()->attributes().pci_bus_id.empty());
  EXPECT_EQ(gpu()->memory_bytes(), gpu()->memory()->total_bytes);
}

TEST_F(GpuTest, MakesNoContextUntilItIsEntered) {
  EXPECT_EQ(stand_in().counts().contexts, 0U);
  EXPECT_TRUE(gpus()[1]->enter().has_value());
  EXPECT_EQ(stand_in().counts().contexts, 1U);
}

TEST_F(GpuTest, RetainsItsContextOnce) {
  const std::int64_t before = stand_in().calls("cuDevicePrimaryCtxRetain");
  std::vector<std::thread> threads;
  for (int i = 0; i != 8; ++i) {
    threads.emplace_back([this] { EXPECT_TRUE(gpu()->enter().has_value()); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(stand_in().calls("cuDevicePrimaryCtxRetain"), before + 1);
}

TEST_F(GpuTest, ReleasesItsContextWhenItGoes) {
  EXPECT_TRUE(gpu()->enter().has_value());
  forget_gpus();
  EXPECT_EQ(stand_in().counts().contexts, 0U);
}

TEST_F(GpuTest, PutsBackWhatWasCurrent) {
  ASSERT_EQ(current(), nullptr);
  {
    const Result<ContextScope> outer = gpus()[0]->enter();
    const auto* const first = current();
    EXPECT_NE(first, nullptr);
    {
      const Result<ContextScope> inner = gpus()[1]->enter();
      EXPECT_NE(current(), first);
      const Result<ContextScope> again = gpus()[1]->enter();
      EXPECT_NE(current(), first);
    }
    EXPECT_EQ(current(), first);
  }
  EXPECT_EQ(current(), nullptr);
}

TEST_F(GpuTest, SaysThatItsContextCannotBeMade) {
  stand_in().fail_next("cuDevicePrimaryCtxRetain", 999);
  const Result<ContextScope> scope = gpu()->enter();
  ASSERT_FALSE(scope.has_value());
  EXPECT_EQ(scope.error().message(), "cuDevicePrimaryCtxRetain failed: CUDA_ERROR_UNKNOWN (999)");
  EXPECT_TRUE(gpu()->enter().has_value());
}

TEST_F(GpuTest, PassesOnThatTheGpusCannotBeListed) {
  stand_in().fail_next("cuDeviceGetUuid_v2", 999);
  EXPECT_FALSE(Gpu::list(driver()).has_value());
}

}  // namespace
}  // namespace tessera
