// GPU arrays in both directions.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <string>
#include <thread>

#include "given_servers.h"
#include "tessera/base/clock.h"
#include "tessera/ipc/gpu_system.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using testing::elements_of;
using ::testing::ElementsAre;
using testing::expect_error;

constexpr std::int64_t kLarge = 1 << 20;

class GpuServerTest : public testing::ServerTest {
 protected:
  explicit GpuServerTest(std::string name = "identity_gpu") : ServerTest(std::move(name)) {}

  void SetUp() override {
    ServerTest::SetUp();
    if (!IsSkipped()) {
      gpus_ = GpuSystem::open({.pool_fraction = 0}, clock_);
      ASSERT_FALSE(gpus_->problem().has_value()) << gpus_->problem()->sentence;
    }
  }

  [[nodiscard]] ClientOptions gpu_options() {
    ClientOptions with_gpus = options();
    with_gpus.gpus = gpus_;
    return with_gpus;
  }
  // Asks for what it has found to work, as programs do.
  [[nodiscard]] Tesseract connect_gpu(const ClientOptions& with_gpus) {
    const Tesseract client = Tesseract::from_url(server().url, with_gpus);
    return client.with_encoding({.gpu_transport = client.resolve_gpu_transport()});
  }
  [[nodiscard]] Tesseract connect_gpu() { return connect_gpu(gpu_options()); }
  [[nodiscard]] Array on_gpu(const Array& array) const {
    return gpus_->to_device(array, gpus_->gpus().front()->uuid()).value();
  }
  [[nodiscard]] Array on_gpu(std::initializer_list<float> values) const { return on_gpu(Array::of<float>(values)); }
  [[nodiscard]] static bool is_on_gpu(const Value& value) { return value.array().is_on_device(); }

  // Bytes of the GPU that anybody has, by the stand-in driver; nothing on another one.
  [[nodiscard]] static std::optional<std::uint64_t> used_bytes() {
    void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void* const symbol = driver == nullptr ? nullptr : ::dlsym(driver, "tessera_stand_in_used_bytes");
    if (symbol == nullptr) {
      return std::nullopt;
    }
    return reinterpret_cast<std::uint64_t (*)(int)>(symbol)(0);
  }
  [[nodiscard]] static bool soon_uses(std::uint64_t most_bytes) {
    for (int i = 0; i != 1000 && used_bytes().value_or(0) > most_bytes; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return used_bytes().value_or(0) <= most_bytes;
  }

  SystemClock clock_;
  std::shared_ptr<GpuSystem> gpus_;
};

TEST_F(GpuServerTest, OffersTheTransportAndItWorks) {
  const Tesseract client = Tesseract::from_url(server().url, gpu_options());
  EXPECT_EQ(client.server_capabilities().gpu_transports, (std::vector<std::string>{"none", "cuda_ipc"}));
  EXPECT_EQ(client.resolve_gpu_transport(), "cuda_ipc");
  const std::uint64_t opened = gpus_->counters().handles_opened;
  EXPECT_EQ(client.with_encoding({.gpu_transport = "cuda_ipc"}).resolve_gpu_transport(), "cuda_ipc");
  EXPECT_EQ(client.with_encoding({.gpu_transport = "none"}).resolve_gpu_transport(), "none");
  EXPECT_EQ(gpus_->counters().handles_opened, opened);
}

TEST_F(GpuServerTest, TakesAndGivesArraysOnTheGpu) {
  const Tesseract client = connect_gpu();
  for (const float first : {1.5F, 2.5F, 3.5F}) {
    const Value result = client.apply({{"x", on_gpu({first, -2.0F, 3.0F})}});
    EXPECT_TRUE(is_on_gpu(result.object()["x"]));
    EXPECT_THAT(elements_of<float>(result.object()["x"]), ElementsAre(first, -2.0F, 3.0F));
  }
  EXPECT_EQ(gpus_->counters().copies_to_host, 0U);
}

TEST_F(GpuServerTest, KeepsShapes) {
  const Tesseract client = connect_gpu();
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{2, 3}, Shape{4, 1, 2, 1}, Shape{0, 3}}) {
    Array array = Array::zeros(DType::kFloat32, shape);
    const std::span<float> elements = array.mutable_values<float>();
    std::iota(elements.begin(), elements.end(), 1.0F);
    const Value result = client.apply({{"x", on_gpu(array)}});
    EXPECT_EQ(result.object()["x"].array().shape(), shape);
    EXPECT_EQ(elements_of<float>(result.object()["x"]), (std::vector<float>{elements.begin(), elements.end()}));
  }
}

TEST_F(GpuServerTest, TakesResultsAgain) {
  const Tesseract client = connect_gpu();
  Value value = Object{{"x", on_gpu({4.0F, 5.0F})}};
  for (int round = 0; round != 5; ++round) {
    value = client.apply(value.object());
  }
  EXPECT_TRUE(is_on_gpu(value.object()["x"]));
  EXPECT_THAT(elements_of<float>(value.object()["x"]), ElementsAre(4.0F, 5.0F));
}

TEST_F(GpuServerTest, TakesAndGivesThemInGradients) {
  const Tesseract client = connect_gpu();
  const Object inputs{{"x", on_gpu({1.0F, 2.0F})}};
  const Value backward = client.vector_jacobian_product(inputs, {"x"}, {"x"}, {{"x", on_gpu({3.0F, 4.0F})}});
  EXPECT_TRUE(is_on_gpu(backward.object()["x"]));
  EXPECT_THAT(elements_of<float>(backward.object()["x"]), ElementsAre(3.0F, 4.0F));
  const Value forward = client.jacobian_vector_product(inputs, {"x"}, {"x"}, {{"x", on_gpu({5.0F, 6.0F})}});
  EXPECT_TRUE(is_on_gpu(forward.object()["x"]));
  EXPECT_THAT(elements_of<float>(forward.object()["x"]), ElementsAre(5.0F, 6.0F));
}

TEST_F(GpuServerTest, KeepsWhatWasCopiedWhenTheClientIsGone) {
  std::optional<Value> result = connect_gpu().apply({{"x", on_gpu({1.0F, 2.0F})}});
  EXPECT_THAT(elements_of<float>(result->object()["x"]), ElementsAre(1.0F, 2.0F));
}

TEST_F(GpuServerTest, IsReadBeforeTheCallReturns) {
  const Tesseract client = connect_gpu();
  std::optional<Array> x = on_gpu({7.0F, 8.0F});
  const Value result = client.apply({{"x", *x}});
  x.reset();
  const Array other = on_gpu({0.0F, 0.0F});  // in the same place, as like as not
  EXPECT_THAT(elements_of<float>(result.object()["x"]), ElementsAre(7.0F, 8.0F));
}

TEST_F(GpuServerTest, GetsAndGivesBytesWhereTheClientAsksForNoTransport) {
  for (const char* const format : {"json", "json+base64", "json+binref"}) {
    const Tesseract client = Tesseract::from_url(server().url, gpu_options()).with_encoding({.output_format = format});
    const Value result = client.apply({{"x", on_gpu({1.0F, 2.0F})}});
    EXPECT_FALSE(is_on_gpu(result.object()["x"]));
    EXPECT_THAT(elements_of<float>(result.object()["x"]), ElementsAre(1.0F, 2.0F));
  }
}

TEST_F(GpuServerTest, GivesHostArraysWhereItGotHostArrays) {
  const Value result = connect_gpu().apply({{"x", Array::of<float>({1.0F})}});
  EXPECT_FALSE(is_on_gpu(result.object()["x"]));
  EXPECT_THAT(elements_of<float>(result.object()["x"]), ElementsAre(1.0F));
}

TEST_F(GpuServerTest, LendsItsMemoryToWhoBorrows) {
  ClientOptions borrowing = gpu_options();
  borrowing.borrows_gpu_arrays = true;
  const Tesseract client = connect_gpu(borrowing);
  const Value first = client.apply({{"x", on_gpu({4.0F, 5.0F})}});
  EXPECT_EQ(gpus_->counters().imports_borrowed, 1U);
  const Value second = client.apply(first.object());
  EXPECT_THAT(elements_of<float>(first.object()["x"]), ElementsAre(4.0F, 5.0F));
  EXPECT_THAT(elements_of<float>(second.object()["x"]), ElementsAre(4.0F, 5.0F));
}

// What the client has named is gone at the server, which otherwise keeps it for five minutes.
TEST_F(GpuServerTest, HasItsMemoryBackOnceItIsNamed) {
  if (!used_bytes()) {
    GTEST_SKIP() << "the driver does not say what all processes have: this is not the stand-in";
  }
  const Array x = on_gpu(Array::zeros(DType::kFloat32, {kLarge}));
  const Tesseract client = connect_gpu();
  const auto call_and_close = [&client, &x](int calls) {
    for (int call = 0; call != calls; ++call) {
      static_cast<void>(client.apply({{"x", x}}));
    }
    client.close();
  };
  call_and_close(3);  // buffers that a server keeps for the next call
  const std::uint64_t before = used_bytes().value();
  call_and_close(20);
  EXPECT_TRUE(soon_uses(before)) << *used_bytes() << " bytes, " << before << " before";
}

TEST_F(GpuServerTest, HasItsMemoryBackWithoutAnotherCall) {
  if (!used_bytes()) {
    GTEST_SKIP() << "the driver does not say what all processes have: this is not the stand-in";
  }
  const Array x = on_gpu(Array::zeros(DType::kFloat32, {kLarge}));
  const Tesseract client = connect_gpu();
  static_cast<void>(client.apply({{"x", x}}));
  client.close();
  const std::uint64_t before = used_bytes().value();
  for (int call = 0; call != 5; ++call) {
    static_cast<void>(client.apply({{"x", x}}));
  }
  EXPECT_TRUE(soon_uses(before)) << *used_bytes() << " bytes, " << before << " before";
}

TEST_F(GpuServerTest, HasItsMemoryBackWithTheLastBorrower) {
  if (!used_bytes()) {
    GTEST_SKIP() << "the driver does not say what all processes have: this is not the stand-in";
  }
  constexpr std::uint64_t kBytes = std::uint64_t{kLarge} * sizeof(float);
  ClientOptions borrowing = gpu_options();
  borrowing.borrows_gpu_arrays = true;
  const Array x = on_gpu(Array::zeros(DType::kFloat32, {kLarge}));
  const Tesseract client = connect_gpu(borrowing);
  std::vector<Value> held;
  const auto hold = [&](int calls) {
    for (int call = 0; call != calls; ++call) {
      held.push_back(client.apply({{"x", x}}));
    }
    client.close();
  };
  hold(4);  // buffers that a server keeps for the next calls
  held.clear();
  client.close();
  const std::uint64_t before = used_bytes().value();
  hold(8);
  std::vector<Value> copies = held;
  held.clear();
  client.close();
  const std::uint64_t at_most = used_bytes().value();
  EXPECT_GE(at_most, before + 4 * kBytes);
  copies.clear();
  for (int round = 0; round != 3; ++round) {
    client.close();
    hold(8);
    held.clear();
  }
  client.close();
  EXPECT_TRUE(soon_uses(at_most)) << *used_bytes() << " bytes, " << at_most << " before";
}

TEST_F(GpuServerTest, ServesManyThreadsOfOneClient) {
  const Tesseract client = connect_gpu();
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread != 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int call = 0; call != 10; ++call) {
        const auto number = static_cast<float>(thread * 100 + call);
        const Value result = client.apply({{"x", on_gpu({number, 1.0F})}});
        right += elements_of<float>(result.object()["x"]) == std::vector<float>{number, 1.0F} ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(right, 80);
}

TEST_F(GpuServerTest, GetsBytesFromAProcessWithoutADriver) {
  ClientOptions blind = options();
  testing::Warnings expected;
  blind.warn = expected.collector();
  blind.gpus = GpuSystem::open({.driver_library = "/no/such/libcuda.so.1"}, clock_);
  const Tesseract client = Tesseract::from_url(server().url, blind);
  EXPECT_EQ(client.resolve_gpu_transport(), "none");
  ASSERT_THAT(expected.sentences(), ::testing::SizeIs(1));
  EXPECT_THAT(expected.sentences()[0], ::testing::HasSubstr("(no_driver)"));
  const Value result = client.apply({{"x", Array::of<float>({1.0F})}});
  EXPECT_THAT(elements_of<float>(result.object()["x"]), ElementsAre(1.0F));
  expect_error(Kind::kGpu, "gpu_transport='cuda_ipc' was requested, but it does not work", [&client] {
    static_cast<void>(client.with_encoding({.gpu_transport = "cuda_ipc"}).resolve_gpu_transport());
  });
}

class GpuTreeTest : public GpuServerTest {
 protected:
  GpuTreeTest() : GpuServerTest("everything_gpu") {}
};

TEST_F(GpuTreeTest, MixesThemWithHostArrays) {
  const Object inputs{{"f32", on_gpu({1.0F, 2.0F})},
                      {"f64", Array::of({3.0})},
                      {"arrays", List{Value(on_gpu({4.0F})), Value(Array::of<float>({5.0F}))}}};
  const Value result = connect_gpu().apply(inputs);
  const Object& body = result.object();
  EXPECT_TRUE(is_on_gpu(body["f32"]));
  EXPECT_FALSE(is_on_gpu(body["f64"]));
  EXPECT_TRUE(is_on_gpu(body["arrays"].list().at(0)));
  EXPECT_FALSE(is_on_gpu(body["arrays"].list().at(1)));
  EXPECT_THAT(elements_of<float>(body["f32"]), ElementsAre(1.0F, 2.0F));
  EXPECT_THAT(elements_of<double>(body["f64"]), ElementsAre(3.0));
  EXPECT_THAT(elements_of<float>(body["arrays"].list().at(0)), ElementsAre(4.0F));
  EXPECT_EQ(body["seen"].object()["f32"].text(), "float32[2]");
}

TEST_F(GpuTreeTest, KeepsEveryDtype) {
  const Tesseract client = connect_gpu();
  for (const DType dtype : all_dtypes()) {
    Array array = Array::zeros(dtype, {5});
    array.mutable_bytes()[0] = std::byte{1};
    const Value result = client.apply({{"any_array", on_gpu(array)}});
    const Array& back = result.object()["any_array"].array();
    EXPECT_TRUE(back.is_on_device());
    EXPECT_EQ(back.dtype(), dtype);
    const Array host = back.to_host().value();
    EXPECT_TRUE(std::ranges::equal(host.bytes(), array.bytes())) << name_of(dtype);
  }
}

TEST_F(GpuTreeTest, RefusesWhatDoesNotFitAsItIs) {
  const auto error = testing::error_of([this] { static_cast<void>(connect_gpu().apply({{"f64", on_gpu({1.0F})}})); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), Kind::kRefused);
  EXPECT_EQ(error->items().at(0).type, "array_dtype_mismatch");
}

}  // namespace
}  // namespace tessera
