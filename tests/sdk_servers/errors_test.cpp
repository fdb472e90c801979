// What the server refuses, and what goes wrong there.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "given_servers.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using std::chrono::milliseconds;
using testing::elements_of;
using ::testing::ElementsAre;
using testing::error_of;
using testing::expect_error;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

std::vector<std::string> texts_of(const List& place) {
  std::vector<std::string> texts;
  for (const Value& part : place) {
    texts.push_back(part.kind() == Value::Kind::kText ? part.text() : std::to_string(part.integer()));
  }
  return texts;
}

class RefusalsTest : public testing::ServerTest {
 protected:
  RefusalsTest() : ServerTest("vectoradd") {}

  // What the server says of inputs that it refuses.
  [[nodiscard]] ClientError refusal_of(const Object& inputs) {
    const std::optional<ClientError> error = error_of([&] { static_cast<void>(connect().apply(inputs)); });
    if (!error.has_value()) {
      throw std::runtime_error("nothing was refused");
    }
    EXPECT_EQ(error->kind(), Kind::kRefused) << error->what();
    EXPECT_EQ(error->status(), 422);
    EXPECT_EQ(error->title(), "endpoint apply");
    return *error;
  }
};

TEST_F(RefusalsTest, NameEveryFieldThatIsWrong) {
  const ClientError error = refusal_of({{"a", Array::of({1.0})}, {"s", "fast"}, {"zz", 1}});
  std::vector<std::string> fields;
  for (const RefusedItem& item : error.items()) {
    fields.push_back(texts_of(item.place).at(2) + " " + item.type);
  }
  EXPECT_THAT(fields, ElementsAre("b missing", "s array_non_numeric", "zz extra_forbidden"));
}

TEST_F(RefusalsTest, HaveTheNumbers) {
  const ClientError error = refusal_of({{"a", List{List{1.0, 2.0}}}, {"b", Array::of({1.0})}});
  ASSERT_THAT(error.items(), SizeIs(1));
  const RefusedItem& item = error.items()[0];
  EXPECT_EQ(item.type, "array_dimensionality_mismatch");
  EXPECT_THAT(texts_of(item.place), ElementsAre("body", "inputs", "a"));
  EXPECT_EQ(item.message, "Array has wrong number of dimensions: got 2D, expected 1D");
  EXPECT_EQ(item.context.kind(), Value::Kind::kObject);
  EXPECT_THAT(error.what(), HasSubstr("inputs.a"));
  EXPECT_THAT(error.what(), HasSubstr("got 2D, expected 1D"));
}

TEST_F(RefusalsTest, HaveTheRuleAcrossFields) {
  const ClientError error = refusal_of({{"a", Array::of({1.0, 2.0})}, {"b", Array::of({1.0})}});
  ASSERT_THAT(error.items(), SizeIs(1));
  EXPECT_EQ(error.items()[0].type, "value_error");
  EXPECT_THAT(error.items()[0].message, HasSubstr("a and b differ in length: 2 and 1"));
}

TEST_F(RefusalsTest, AreOfGradientsToo) {
  const auto error = error_of([this] {
    static_cast<void>(connect().vector_jacobian_product({{"a", Array::of({1.0})}, {"b", Array::of({1.0})}},
                                                        {"normalize"}, {"result"}, {{"result", Array::of({1.0})}}));
  });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), Kind::kRefused);
  EXPECT_EQ(error->title(), "endpoint vector_jacobian_product");
  EXPECT_THAT(texts_of(error->items().at(0).place), IsSupersetOf({"body", "vjp_inputs"}));
}

TEST_F(RefusalsTest, DoNotDisturbTheNextCall) {
  const Tesseract client = connect();
  for (int round = 0; round != 3; ++round) {
    expect_error(Kind::kRefused, "", [&client] { static_cast<void>(client.apply({})); });
    const Value result = client.apply({{"a", Array::of({1.0})}, {"b", Array::of({2.0})}});
    EXPECT_THAT(elements_of<double>(result.object()["result"]), ElementsAre(3.0));
  }
}

TEST_F(RefusalsTest, AreMadeByTheClientWhereTheServerDoesNotOfferIt) {
  const Tesseract client = connect();
  expect_error(Kind::kInvalidArgument, "This Tesseract does not accept gpu_transport='cuda_ipc' (accepted: ('none',))",
               [&client] { static_cast<void>(client.with_encoding({.gpu_transport = "cuda_ipc"})); });
  expect_error(Kind::kInvalidArgument, "does not accept output_format='json+msgpack'",
               [&client] { static_cast<void>(client.with_encoding({.output_format = "json+msgpack"})); });
  expect_error(Kind::kInvalidArgument, "does not accept compression='zstd'",
               [&client] { static_cast<void>(client.with_encoding({.compression = "zstd"})); });
}

TEST_F(RefusalsTest, OfAPathThatIsNotThere) {
  const Tesseract client = Tesseract::from_url(server().url + "/nowhere", options());
  const auto error = error_of([&client] { static_cast<void>(client.apply({})); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), Kind::kStatus);
  EXPECT_EQ(error->status(), 404);
  EXPECT_THAT(error->what(), HasSubstr("Error 404 from Tesseract"));
  EXPECT_THAT(error->what(), HasSubstr("Not Found"));
  expect_error(Kind::kStatus, "Error 404 from Tesseract", [&client] { static_cast<void>(client.health()); });
}

TEST_F(RefusalsTest, OfAMethodThatIsNotAllowed) {
  const auto error = error_of([this] { static_cast<void>(connect().call_text("apply", std::nullopt)); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->status(), 405);
}

TEST_F(RefusalsTest, OfABodyThatIsNoJson) {
  const auto error = error_of([this] { static_cast<void>(connect().call_text("apply", "{\"inputs\":")); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), Kind::kRefused);
  EXPECT_EQ(error->items().at(0).type, "json_invalid");
}

class FailuresTest : public testing::ServerTest {
 protected:
  FailuresTest() : ServerTest("failing") {}
  explicit FailuresTest(std::string name) : ServerTest(std::move(name)) {}
};

TEST_F(FailuresTest, OfTheFunctionAreAStatus) {
  const Tesseract client = connect();
  for (int round = 0; round != 3; ++round) {
    const auto error = error_of([&client] { static_cast<void>(client.apply({{"fail", "value_error"}})); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->kind(), Kind::kStatus);
    EXPECT_EQ(error->status(), 500);
    EXPECT_THAT(error->what(), HasSubstr("Error 500 from Tesseract: Internal Server Error"));
    EXPECT_THAT(elements_of<double>(client.apply({{"x", Array::of({2.0})}}).object()["result"]), ElementsAre(4.0));
  }
}

TEST_F(FailuresTest, EndACallThatTakesLong) {
  ClientOptions hasty = options();
  hasty.timeouts = {.read = milliseconds(100)};
  const Tesseract by_read = Tesseract::from_url(server().url, hasty);
  static_cast<void>(by_read.server_capabilities());
  expect_error(Kind::kTimeout, "waiting for the server took longer than 100 ms",
               [&by_read] { static_cast<void>(by_read.apply({{"sleep_s", 0.4}})); });
  // The Python runtime answers nobody until the function is through.
  static_cast<void>(connect().health());
  hasty.timeouts = {.total = milliseconds(100)};
  const Tesseract by_total = Tesseract::from_url(server().url, hasty);
  static_cast<void>(by_total.server_capabilities());
  expect_error(Kind::kTimeout, "the call took longer than 100 ms",
               [&by_total] { static_cast<void>(by_total.apply({{"sleep_s", 0.4}})); });
}

TEST_F(FailuresTest, DoNotComeOfACallThatWasCancelled) {
  const Tesseract client = connect();
  static_cast<void>(client.server_capabilities());
  const Cancellation cancellation;
  std::thread other([&cancellation] {
    std::this_thread::sleep_for(milliseconds(100));
    cancellation.cancel();
  });
  expect_error(Kind::kCancelled, "the call was cancelled",
               [&] { static_cast<void>(client.apply({{"sleep_s", 0.5}}, {.cancellation = cancellation})); });
  other.join();
  EXPECT_THAT(elements_of<double>(client.apply({{"x", Array::of({2.0})}}).object()["result"]), ElementsAre(4.0));
}

class DebuggedFailuresTest : public FailuresTest {
 protected:
  DebuggedFailuresTest() : FailuresTest("failing_debugged") {}
};

TEST_F(DebuggedFailuresTest, ShowWhatTheFunctionThrew) {
  const auto error = error_of(
      [this] { static_cast<void>(connect().apply({{"fail", "value_error"}, {"message", "the mesh is empty"}})); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->status(), 500);
  EXPECT_THAT(error->what(), HasSubstr("ValueError: the mesh is empty"));
}

}  // namespace
}  // namespace tessera
