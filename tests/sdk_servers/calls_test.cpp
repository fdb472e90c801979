// Every method that calls an endpoint, and what the document tells.
#include <string>

#include "given_servers.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::DoubleNear;
using testing::elements_of;
using ::testing::ElementsAre;
using testing::expect_error;
using ::testing::IsSupersetOf;
using ::testing::Not;

class VectorAddTest : public testing::ServerTest {
 protected:
  VectorAddTest() : ServerTest("vectoradd") {}

  static Object vectors() { return {{"a", Array::of({1.0, 2.0})}, {"b", Array::of({10.0, 20.0})}, {"s", 3.0}}; }
  static Object abstract(std::int64_t size) { return {{"shape", List{size}}, {"dtype", "float64"}}; }
};

TEST_F(VectorAddTest, Apply) {
  EXPECT_THAT(elements_of<double>(connect().apply(vectors()).object()["result"]), ElementsAre(13.0, 26.0));
}

TEST_F(VectorAddTest, ApplyLeavesDefaultsToTheServer) {
  const Object inputs{{"a", Array::of({3.0, 0.0})}, {"b", Array::of({0.0, 4.0})}, {"normalize", true}};
  EXPECT_THAT(elements_of<double>(connect().apply(inputs).object()["result"]),
              ElementsAre(DoubleNear(0.6, 1e-12), DoubleNear(0.8, 1e-12)));
}

TEST_F(VectorAddTest, ApplyTakesPlainLists) {
  const Object inputs{{"a", List{1.0, 2.5}}, {"b", List{1, 2}}};
  EXPECT_THAT(elements_of<double>(connect().apply(inputs).object()["result"]), ElementsAre(2.0, 4.5));
}

TEST_F(VectorAddTest, Jacobian) {
  const Value result = connect().jacobian(vectors(), {"a", "s"}, {"result"});
  const Object& by_input = result.object()["result"].object();
  EXPECT_EQ(by_input["a"].array().shape(), (Shape{2, 2}));
  EXPECT_THAT(elements_of<double>(by_input["a"]), ElementsAre(3.0, 0.0, 0.0, 3.0));
  EXPECT_THAT(elements_of<double>(by_input["s"]), ElementsAre(1.0, 2.0));
  EXPECT_EQ(by_input.size(), 2U);
}

TEST_F(VectorAddTest, JacobianVectorProduct) {
  const Value result =
      connect().jacobian_vector_product(vectors(), {"a", "s"}, {"result"}, {{"a", Array::of({1.0, 1.0})}, {"s", 2.0}});
  EXPECT_THAT(elements_of<double>(result.object()["result"]), ElementsAre(5.0, 7.0));
}

TEST_F(VectorAddTest, VectorJacobianProduct) {
  const Value result =
      connect().vector_jacobian_product(vectors(), {"a", "b"}, {"result"}, {{"result", Array::of({1.0, 2.0})}});
  EXPECT_THAT(elements_of<double>(result.object()["a"]), ElementsAre(3.0, 6.0));
  EXPECT_THAT(elements_of<double>(result.object()["b"]), ElementsAre(1.0, 2.0));
}

TEST_F(VectorAddTest, AbstractEvalTakesShapesAsObjects) {
  const Object scalar{{"shape", List{}}, {"dtype", "float64"}};
  const Value result = connect().abstract_eval({{"a", abstract(7)}, {"b", abstract(7)}, {"s", scalar}});
  EXPECT_EQ(result.object()["result"].object()["shape"].list()[0].integer(), 7);
  EXPECT_EQ(result.object()["result"].object()["dtype"].text(), "float64");
}

TEST_F(VectorAddTest, AbstractEvalTakesArraysWithoutElements) {
  const Array shape = Array::shape_only(DType::kFloat64, {5});
  const Value result =
      connect().abstract_eval({{"a", shape}, {"b", shape}, {"s", Array::shape_only(DType::kFloat64, {})}});
  EXPECT_EQ(result.object()["result"].object()["shape"].list()[0].integer(), 5);
}

TEST_F(VectorAddTest, Health) {
  EXPECT_EQ(connect().health().object()["status"].text(), "ok");
}

TEST_F(VectorAddTest, TestComparesWithWhatIsExpected) {
  const auto spec = [](double second) {
    return Object{{"endpoint", "apply"},
                  {"payload", Object{{"inputs", vectors()}}},
                  {"expected_outputs", Object{{"result", Array::of({13.0, second})}}}};
  };
  const Tesseract client = connect();
  client.test(spec(26.0));
  expect_error(Kind::kTestFailed, "", [&] { client.test(spec(27.0)); });
  expect_error(Kind::kRefused, "", [&] { client.test({{"endpoint", "nothing"}}); });
}

TEST_F(VectorAddTest, CallTextHandsBothBodiesOnAsTheyAre) {
  const std::string body = R"({"inputs":{"a":[1.0],"b":[2.0]}})";
  EXPECT_EQ(connect({.output_format = "json"}).call_text("apply", body),
            R"({"result":{"object_type":"array","shape":[1],"dtype":"float64",)"
            R"("data":{"buffer":[3.0],"encoding":"json"}}})");
  EXPECT_EQ(connect().call_text("health", std::nullopt), R"({"status":"ok"})");
}

TEST_F(VectorAddTest, DocumentNamesTheEndpoints) {
  EXPECT_THAT(connect().available_endpoints(),
              ElementsAre("apply", "jacobian", "jacobian_vector_product", "vector_jacobian_product", "health",
                          "abstract_eval", "test"));
}

TEST_F(VectorAddTest, DocumentHasTheSchemas) {
  const Tesseract client = connect();
  EXPECT_EQ(client.openapi_schema().object()["info"].object()["title"].text(), "vectoradd");
  std::vector<std::string> inputs;
  for (const Object::Member& member : client.input_schema().object()["properties"].object().members()) {
    inputs.push_back(member.key);
  }
  EXPECT_THAT(inputs, ::testing::UnorderedElementsAre("a", "b", "s", "normalize"));
  EXPECT_EQ(client.output_schema().object()["properties"].object().size(), 1U);
  EXPECT_NE(client.output_schema().object()["properties"].object().find("result"), nullptr);
}

TEST_F(VectorAddTest, DocumentTellsWhatTheServerAccepts) {
  const ServerCapabilities capabilities = connect().server_capabilities();
  EXPECT_EQ(capabilities.output_formats, (std::vector<std::string>{"json", "json+base64", "json+binref"}));
  EXPECT_EQ(capabilities.gpu_transports, (std::vector<std::string>{"none"}));
  EXPECT_EQ(capabilities.compressions, (std::vector<std::string>{"none", "lz4"}));
}

TEST_F(VectorAddTest, RunsHaveTheNameThatTheyAreGiven) {
  static_cast<void>(connect().apply(vectors(), {.run_id = "my run & more"}));
  EXPECT_TRUE(std::filesystem::is_directory(server().output_path / "run_my run & more"));
}

TEST_F(VectorAddTest, AddressesMayBeWrittenInSeveralWays) {
  for (const std::string& url :
       {server().url, server().url + "/", server().url.substr(std::string("http://").size())}) {
    const Tesseract client = Tesseract::from_url(url, options());
    EXPECT_EQ(client.url(), server().url);
    EXPECT_EQ(client.health().object()["status"].text(), "ok");
  }
}

TEST_F(VectorAddTest, GoesOnAfterClose) {
  const Tesseract client = connect();
  for (int round = 0; round != 3; ++round) {
    EXPECT_THAT(elements_of<double>(client.apply(vectors()).object()["result"]), ElementsAre(13.0, 26.0));
    client.close();
  }
}

class UnivariateTest : public testing::ServerTest {
 protected:
  UnivariateTest() : ServerTest("univariate") {}
};

TEST_F(UnivariateTest, NumbersAreArraysOfRankZero) {
  const Value result = connect().apply({{"x", 2.0}, {"y", 3.0}});
  EXPECT_EQ(result.object()["result"].array().rank(), 0U);
  EXPECT_EQ(result.object()["result"].array().item<double>(), 101.0);
}

TEST_F(UnivariateTest, Gradients) {
  const Tesseract client = connect();
  const Object point{{"x", 2.0}, {"y", 3.0}};
  const Value jacobian = client.jacobian(point, {"x", "y"}, {"result"});
  EXPECT_EQ(jacobian.object()["result"].object()["x"].array().item<double>(), 802.0);
  EXPECT_EQ(jacobian.object()["result"].object()["y"].array().item<double>(), -200.0);
  const Value forward = client.jacobian_vector_product(point, {"x", "y"}, {"result"}, {{"x", 1.0}, {"y", 2.0}});
  EXPECT_EQ(forward.object()["result"].array().item<double>(), 402.0);
  const Value backward = client.vector_jacobian_product(point, {"y"}, {"result"}, {{"result", 0.5}});
  EXPECT_EQ(backward.object()["y"].array().item<double>(), -100.0);
}

class FailingTest : public testing::ServerTest {
 protected:
  FailingTest() : ServerTest("failing") {}
};

TEST_F(FailingTest, SaysWhatItDoesNotOffer) {
  const Tesseract client = connect();
  EXPECT_THAT(client.available_endpoints(),
              AllOf(IsSupersetOf({"apply", "health"}), Not(Contains("jacobian")), Not(Contains("test"))));
  expect_error(Kind::kNotImplemented, "Jacobian not implemented for this Tesseract.",
               [&client] { static_cast<void>(client.jacobian({}, {"x"}, {"result"})); });
  expect_error(Kind::kNotImplemented, "Jacobian Vector Product (JVP) not implemented for this Tesseract.",
               [&client] { static_cast<void>(client.jacobian_vector_product({}, {"x"}, {"result"}, {})); });
  expect_error(Kind::kNotImplemented, "Test endpoint not available", [&client] { client.test({}); });
}

}  // namespace
}  // namespace tessera
