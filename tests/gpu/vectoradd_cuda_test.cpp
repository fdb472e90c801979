#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/clock.h"
#include "tessera/cuda/driver_functions.h"
#include "tessera/daemon/config.h"
#include "tessera/daemon/openapi.h"
#include "tessera/ipc/gpu_system.h"
#include "tessera/tesseract/module.h"
#include "tessera/tesseract/tesseract.h"

namespace tessera {
namespace {

class GpuContext final : public Context {
 public:
  explicit GpuContext(std::shared_ptr<GpuSystem> gpus) : gpus_(std::move(gpus)) {}
  std::shared_ptr<GpuSystem> gpus() override { return gpus_; }
  void log(std::string_view /*line*/) override {}
  void log_metric(std::string_view /*key*/, double /*value*/, std::optional<std::int64_t> /*step*/) override {}
  void log_parameter(std::string_view /*key*/, const Value& /*value*/) override {}
  void log_artifact(const std::filesystem::path& /*file*/) override {}

 private:
  std::shared_ptr<GpuSystem> gpus_;
};

std::shared_ptr<const TesseractDefinition> load(const std::string& name) {
  const Result<std::shared_ptr<const TesseractDefinition>> loaded =
      load_module(std::string(TESSERA_EXAMPLES_FOLDER "/") + name + ".so");
  if (!loaded) {
    ADD_FAILURE() << loaded.error().message();
    return nullptr;
  }
  return *loaded;
}

// Everything in host memory, numbers in a row.
std::vector<double> numbers_of(const Value& value) {
  const Result<Array> host = value.array().to_host();
  if (!host) {
    ADD_FAILURE() << host.error().message();
    return {};
  }
  const std::span<const double> values = host->values<double>();
  return {values.begin(), values.end()};
}

void expect_same(const Value& actual, const Value& expected) {
  EXPECT_EQ(actual.array().shape(), expected.array().shape());
  EXPECT_TRUE(actual.array().is_on_device() || actual.array().size() == 0);
  const std::vector<double> ours = numbers_of(actual);
  const std::vector<double> theirs = numbers_of(expected);
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_NEAR(ours[i], theirs[i], 1e-12 * (1.0 + std::abs(theirs[i]))) << "element " << i;
  }
}

class VectoraddCudaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (sizeof(TESSERA_NO_KERNELS) > 1) {
      GTEST_SKIP() << TESSERA_NO_KERNELS;
    }
    host_ = load("vectoradd");
    cuda_ = load("vectoradd_cuda");
    ASSERT_TRUE(host_ != nullptr && cuda_ != nullptr);
  }

  Array random_vector(std::int64_t size) {
    Array vector = Array::allocate(DType::kFloat64, {size});
    std::normal_distribution<double> distribution;
    for (double& value : vector.mutable_values<double>()) {
      value = distribution(random_);
    }
    return vector;
  }

  Object random_inputs(std::int64_t size, bool normalize) {
    return {{"a", random_vector(size)},
            {"b", random_vector(size)},
            {"s", random_vector(1).reshaped({})},
            {"normalize", normalize}};
  }

  const SystemClock clock_;
  std::shared_ptr<GpuSystem> gpus_ = GpuSystem::open({}, clock_);
  std::shared_ptr<const TesseractDefinition> host_;
  std::shared_ptr<const TesseractDefinition> cuda_;
  SilentContext silent_;
  GpuContext context_{gpus_};

 private:
  std::mt19937_64 random_{static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed())};
};

TEST_F(VectoraddCudaTest, HasTheSchemasOfVectoradd) {
  RuntimeConfig config;
  config.name = "Tesseract";
  EXPECT_EQ(openapi_document(*cuda_, config), openapi_document(*host_, config));
  EXPECT_TRUE(cuda_->does_take_device_arrays());
}

TEST_F(VectoraddCudaTest, SaysWhyItCannotRun) {
  try {
    cuda_->apply()(random_inputs(3, false), silent_);
    FAIL() << "it ran without a GPU";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "this program gives no GPU to its Tesseracts");
  }
  if (const std::optional<TransportProblem>& problem = gpus_->problem()) {
    try {
      cuda_->apply()(random_inputs(3, false), context_);
      FAIL() << "it ran without a driver";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), problem->sentence);
    }
  }
}

// The size of a vector, whether the result is normalized, and where the inputs are.
struct Case {
  std::int64_t size;
  bool normalize;
  bool is_on_gpu;
};

class VectoraddCudaKernelTest : public VectoraddCudaTest, public testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    VectoraddCudaTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    if (const std::optional<TransportProblem>& problem = gpus_->problem()) {
      GTEST_SKIP() << problem->sentence;
    }
    const Driver& driver = gpus_->gpus().front()->driver();
    if (driver.functions().launch_kernel == nullptr) {
      GTEST_SKIP() << "the driver " << driver.library_path() << " runs no kernels";
    }
  }

  // As a client would have sent them.
  Value sent(const Array& array) {
    if (!GetParam().is_on_gpu) {
      return array;
    }
    Result<Array> copy = gpus_->to_device(array, gpus_->gpus().front()->uuid());
    if (!copy) {
      throw std::runtime_error(copy.error().message());
    }
    return *copy;
  }
  Object sent(const Object& inputs) {
    Object copies;
    for (const Object::Member& member : inputs.members()) {
      copies.set(member.key, member.value.is_array() ? sent(member.value.array()) : member.value);
    }
    return copies;
  }

  const Object inputs_ = random_inputs(GetParam().size, GetParam().normalize);
};

TEST_P(VectoraddCudaKernelTest, AppliesAsVectoraddDoes) {
  expect_same(cuda_->apply()(sent(inputs_), context_)["result"], host_->apply()(inputs_, silent_)["result"]);
}

TEST_P(VectoraddCudaKernelTest, HasTheJacobianOfVectoradd) {
  if (GetParam().size > 1000) {
    GTEST_SKIP() << "the matrix would be too large";
  }
  const PathSet by{"a", "b", "s"};
  const Object actual = cuda_->jacobian()(sent(inputs_), by, {"result"}, context_);
  const Object expected = host_->jacobian()(inputs_, by, {"result"}, silent_);
  for (const std::string& input : by) {
    expect_same(actual["result"].object()[input], expected["result"].object()[input]);
  }
}

TEST_P(VectoraddCudaKernelTest, FollowsTangentsAsVectoraddDoes) {
  const Object tangents{{"a", random_vector(GetParam().size)}, {"s", random_vector(1).reshaped({})}};
  const PathSet by{"a", "s"};
  expect_same(cuda_->jacobian_vector_product()(sent(inputs_), by, {"result"}, sent(tangents), context_)["result"],
              host_->jacobian_vector_product()(inputs_, by, {"result"}, tangents, silent_)["result"]);
}

TEST_P(VectoraddCudaKernelTest, LeadsCotangentsBackAsVectoraddDoes) {
  const Object cotangents{{"result", random_vector(GetParam().size)}};
  const PathSet by{"a", "b", "s"};
  const Object actual = cuda_->vector_jacobian_product()(sent(inputs_), by, {"result"}, sent(cotangents), context_);
  const Object expected = host_->vector_jacobian_product()(inputs_, by, {"result"}, cotangents, silent_);
  for (const std::string& input : by) {
    expect_same(actual[input], expected[input]);
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, VectoraddCudaKernelTest,
                         testing::Values(Case{0, false, false}, Case{1, true, true}, Case{257, true, false},
                                         Case{1000, false, true}, Case{1'000'003, true, true},
                                         Case{1'000'003, false, false}));

}  // namespace
}  // namespace tessera
