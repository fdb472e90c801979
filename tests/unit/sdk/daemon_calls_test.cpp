// Every method, against our own daemon.
#include <chrono>
#include <string>

#include "client_errors.h"
#include "served_modules.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::expect_error;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using testing::ServedModules;

Object vectors() {
  return {{"a", Array::of({1.0, 2.0})}, {"b", Array::of({10.0, 20.0})}, {"s", 3.0}};
}

std::vector<double> doubles(const Value& value) {
  const std::span<const double> values = value.array().values<double>();
  return {values.begin(), values.end()};
}

// Both ways to the daemon.
class DaemonCallsTest : public ::testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] Tesseract connect(const ServedModules& served, const ClientOptions& options = {}) const {
    return Tesseract::from_url(GetParam() ? served.unix_url() : served.url(), options);
  }
};

INSTANTIATE_TEST_SUITE_P(Sockets, DaemonCallsTest, ::testing::Values(false, true),
                         [](const auto& each) { return each.param ? "Unix" : "Tcp"; });

TEST_P(DaemonCallsTest, Apply) {
  const ServedModules served("examples/vectoradd");
  const Value result = connect(served).apply(vectors());
  EXPECT_THAT(doubles(result.object()["result"]), ElementsAre(13.0, 26.0));
}

TEST_P(DaemonCallsTest, Jacobian) {
  const ServedModules served("examples/univariate");
  const Value result = connect(served).jacobian({{"x", 2.0}, {"y", 3.0}}, {"x", "y"}, {"result"});
  const Object& by_input = result.object()["result"].object();
  EXPECT_EQ(by_input["x"].array().item<double>(), 802.0);
  EXPECT_EQ(by_input["y"].array().item<double>(), -200.0);
  EXPECT_EQ(by_input["x"].array().rank(), 0U);
}

TEST_P(DaemonCallsTest, JacobianVectorProduct) {
  const ServedModules served("examples/vectoradd");
  const Value result = connect(served).jacobian_vector_product(vectors(), {"a", "s"}, {"result"},
                                                               {{"a", Array::of({1.0, 1.0})}, {"s", 2.0}});
  EXPECT_THAT(doubles(result.object()["result"]), ElementsAre(5.0, 7.0));
}

TEST_P(DaemonCallsTest, VectorJacobianProduct) {
  const ServedModules served("examples/vectoradd");
  const Value result =
      connect(served).vector_jacobian_product(vectors(), {"a", "b"}, {"result"}, {{"result", Array::of({1.0, 2.0})}});
  EXPECT_THAT(doubles(result.object()["a"]), ElementsAre(3.0, 6.0));
  EXPECT_THAT(doubles(result.object()["b"]), ElementsAre(1.0, 2.0));
}

TEST_P(DaemonCallsTest, AbstractEval) {
  const ServedModules served("examples/vectoradd");
  const Tesseract client = connect(served);
  const auto abstract = [](std::int64_t size) { return Object{{"shape", List{size}}, {"dtype", "float64"}}; };
  const Object scalar{{"shape", List{}}, {"dtype", "float64"}};
  const Value result = client.abstract_eval({{"a", abstract(7)}, {"b", abstract(7)}, {"s", scalar}});
  EXPECT_EQ(result.object()["result"].object()["shape"].list()[0].integer(), 7);
  EXPECT_EQ(result.object()["result"].object()["dtype"].text(), "float64");
  const Array shape = Array::shape_only(DType::kFloat64, {5});
  const Value from_arrays =
      client.abstract_eval({{"a", shape}, {"b", shape}, {"s", Array::shape_only(DType::kFloat64, {})}});
  EXPECT_EQ(from_arrays.object()["result"].object()["shape"].list()[0].integer(), 5);
}

TEST_P(DaemonCallsTest, Health) {
  const ServedModules served("examples/vectoradd");
  EXPECT_EQ(connect(served).health().object()["status"].text(), "ok");
}

TEST_P(DaemonCallsTest, BelowAPrefix) {
  const ServedModules served("examples/vectoradd examples/univariate");
  const std::string url = GetParam() ? served.unix_url() + ":/univariate" : served.url() + "/univariate/";
  const Value result = Tesseract::from_url(url).apply({{"x", 1.0}, {"y", 1.0}});
  EXPECT_EQ(result.object()["result"].array().item<double>(), 0.0);
  expect_error(Kind::kStatus, "Error 404 from Tesseract",
               [&served, this] { static_cast<void>(connect(served).apply(vectors())); });
}

TEST(DaemonTestEndpointTest, ComparesWithWhatIsExpected) {
  const ServedModules served("examples/vectoradd");
  const Tesseract client = Tesseract::from_url(served.url());
  const auto spec = [](double second) {
    return Object{{"endpoint", "apply"},
                  {"payload", Object{{"inputs", vectors()}}},
                  {"expected_outputs", Object{{"result", Array::of({13.0, second})}}}};
  };
  client.test(spec(26.0));
  expect_error(Kind::kTestFailed, "", [&] { client.test(spec(27.0)); });
  expect_error(Kind::kRefused, "", [&] { client.test({{"endpoint", "nothing"}}); });
}

TEST(DaemonTestEndpointTest, IsThereInDebugModeOnly) {
  const ServedModules served("examples/vectoradd", [](DaemonOptions& options) { options.config.debug = false; });
  const Tesseract client = Tesseract::from_url(served.url());
  expect_error(Kind::kNotImplemented, "Test endpoint not available", [&client] { client.test({}); });
  EXPECT_THAT(client.available_endpoints(), ::testing::Not(Contains("test")));
}

TEST(DaemonDocumentTest, NamesEndpointsSchemasAndCapabilities) {
  const ServedModules served("examples/vectoradd");
  const Tesseract client = Tesseract::from_url(served.url());
  EXPECT_THAT(client.available_endpoints(), ElementsAre("apply", "jacobian", "jacobian_vector_product",
                                                        "vector_jacobian_product", "health", "abstract_eval", "test"));
  EXPECT_EQ(client.openapi_schema().object()["info"].object()["title"].text(), "vectoradd");
  EXPECT_TRUE(client.input_schema().object()["properties"].object().find("normalize") != nullptr);
  EXPECT_TRUE(client.output_schema().object()["properties"].object().find("result") != nullptr);
  EXPECT_EQ(client.server_capabilities().output_formats,
            (std::vector<std::string>{"json", "json+base64", "json+binref"}));
  EXPECT_EQ(client.server_capabilities().gpu_transports, (std::vector<std::string>{"none"}));
  EXPECT_EQ(client.server_capabilities().compressions, (std::vector<std::string>{"none", "lz4"}));
  EXPECT_EQ(client.url(), served.url());
}

TEST(DaemonDocumentTest, TellsWhatIsNotImplemented) {
  const ServedModules served("examples/failing");
  const Tesseract client = Tesseract::from_url(served.url());
  expect_error(Kind::kNotImplemented, "Jacobian not implemented for this Tesseract.",
               [&client] { static_cast<void>(client.jacobian({}, {"x"}, {"result"})); });
  expect_error(Kind::kNotImplemented, "Jacobian Vector Product (JVP) not implemented for this Tesseract.",
               [&client] { static_cast<void>(client.jacobian_vector_product({}, {"x"}, {"result"}, {})); });
  const ServedModules bare("tests/doubler");
  expect_error(Kind::kNotImplemented, "Vector Jacobian Product (VJP) not implemented for this Tesseract.", [&bare] {
    static_cast<void>(Tesseract::from_url(bare.url()).vector_jacobian_product({}, {"x"}, {"result"}, {}));
  });
}

TEST(DaemonErrorsTest, ListWhatIsWrongWithInputs) {
  const ServedModules served("examples/vectoradd");
  const auto error = testing::error_of([&served] {
    static_cast<void>(
        Tesseract::from_url(served.url()).apply({{"a", Array::zeros(DType::kFloat64, {2, 2})}, {"z", 1}}));
  });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), Kind::kRefused);
  EXPECT_EQ(error->title(), "endpoint apply");
  std::vector<std::string> types;
  for (const RefusedItem& item : error->items()) {
    types.push_back(item.type);
  }
  EXPECT_THAT(types, IsSupersetOf({"missing", "extra_forbidden"}));
}

TEST(DaemonErrorsTest, ShowWhatTheFunctionThrew) {
  ServedModules served("examples/failing");
  served.logger().expect("endpoint failed");
  const auto error = testing::error_of([&served] {
    static_cast<void>(
        Tesseract::from_url(served.url()).apply({{"fail", "value_error"}, {"message", "the mesh is empty"}}));
  });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->status(), 500);
  EXPECT_THAT(error->what(), HasSubstr("ValueError: the mesh is empty"));
}

TEST(DaemonRunsTest, HaveTheNameThatTheyAreGiven) {
  const ServedModules served("examples/vectoradd");
  static_cast<void>(Tesseract::from_url(served.url()).apply(vectors(), {.run_id = "my run & more"}));
  EXPECT_TRUE(served.folder().has("outputs/run_my run & more"));
}

TEST(DaemonRunsTest, AreRefusedIfTheirNameLeavesTheFolder) {
  const ServedModules served("examples/vectoradd");
  expect_error(Kind::kRefused, "run_id", [&served] {
    static_cast<void>(Tesseract::from_url(served.url()).apply(vectors(), {.run_id = "../../x"}));
  });
}

TEST(DaemonLimitsTest, EndACallThatTakesLong) {
  const ServedModules served("examples/failing");
  ClientOptions options;
  options.timeouts.read = std::chrono::milliseconds(100);
  expect_error(Kind::kTimeout, "waiting for the server took longer than 100 ms",
               [&] { static_cast<void>(Tesseract::from_url(served.url(), options).apply({{"sleep_s", 2.0}})); });
  options.timeouts = {.total = std::chrono::milliseconds(100)};
  expect_error(Kind::kTimeout, "the call took longer than 100 ms",
               [&] { static_cast<void>(Tesseract::from_url(served.url(), options).apply({{"sleep_s", 2.0}})); });
}

TEST(DaemonLimitsTest, SayThatABodyIsTooLarge) {
  const ServedModules served("examples/identity", [](DaemonOptions& options) { options.body_bytes = 1'000'000; });
  const auto error = testing::error_of([&served] {
    const Array large = Array::zeros(DType::kFloat32, {std::int64_t{16} << 20U});
    static_cast<void>(Tesseract::from_url(served.url()).apply({{"x", large}}));
  });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->status(), 413);
}

TEST(DaemonEndTest, IsNoErrorForTheClientIfItComesBack) {
  auto served = std::make_unique<ServedModules>("examples/vectoradd");
  const Tesseract client = Tesseract::from_url(served->unix_url());
  static_cast<void>(client.apply(vectors()));
  served->stop();
  expect_error(Kind::kConnection, "cannot connect to unix:", [&client] { static_cast<void>(client.apply(vectors())); });
}

}  // namespace
}  // namespace tessera
