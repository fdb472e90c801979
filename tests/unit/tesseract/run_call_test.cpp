// What becomes of the values that endpoints return.

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "requests.h"
#include "tessera/array/device_array.h"

namespace tessera {
namespace {

using testing::vector_of_float64;

Schema output_schema() {
  Schema point("Point");
  point.field("label", text(), "", "p").field("at", array(DType::kFloat64, {3}));
  return Schema("OutputSchema")
      .field("y", vector_of_float64().differentiable())
      .field("total", scalar(DType::kFloat32).differentiable().optional(), "", nullptr)
      .field("count", integer().at_least(0), "", 0)
      .field("points", list_of(object(point)), "", List{})
      .field("by_name", dict_of(vector_of_float64().differentiable()), "", Object{});
}

TesseractDefinition definition_of(Object output) {
  const auto give = [output = std::move(output)](const Object&, Context&) { return output; };
  return TesseractDefinition("fixed").outputs(output_schema()).apply(give).abstract_eval(give);
}

std::variant<Object, EndpointFailure> applied(Object output, Endpoint endpoint = Endpoint::kApply,
                                              bool with_all_fields = false) {
  SilentContext context;
  Call call;
  call.endpoint = endpoint;
  return run_call(definition_of(std::move(output)), call, context, with_all_fields);
}

Object result_of(Object output) {
  auto result = applied(std::move(output));
  if (const auto* failure = std::get_if<EndpointFailure>(&result)) {
    ADD_FAILURE() << failure->text;
    return {};
  }
  return std::get<Object>(std::move(result));
}

std::string fault_of(Object output) {
  const auto result = applied(std::move(output));
  const auto* failure = std::get_if<EndpointFailure>(&result);
  if (failure == nullptr || !failure->is_output_fault) {
    ADD_FAILURE() << "the output was accepted";
    return "";
  }
  return failure->text;
}

std::string keys_of(const Object& object) {
  std::string keys;
  for (const Object::Member& member : object.members()) {
    keys += (keys.empty() ? "" : " ") + member.key;
  }
  return keys;
}

TEST(RunCallTest, OrdersKeysAsTheSchemaDoesAndAddsNone) {
  const Object result = result_of(
      {{"points", List{Object{{"at", Array::of<double>({1, 2, 3})}, {"label", "q"}}}}, {"y", Array::of<double>({1})}});
  EXPECT_EQ(keys_of(result), "y points");
  EXPECT_EQ(keys_of(result["points"].list()[0].object()), "label at");
}

TEST(RunCallTest, CastsAndStretchesOutputs) {
  const Object result = result_of({{"y", Array::of<std::int32_t>({1, 2})},
                                   {"total", 2.5},
                                   {"count", 3.0},
                                   {"points", List{Object{{"at", Array::of<float>({7})}}}},
                                   {"by_name", Object{{"k", List{1, 2}}}}});
  EXPECT_EQ(result["y"].array().dtype(), DType::kFloat64);
  EXPECT_EQ(result["total"].array().item<float>(), 2.5F);
  EXPECT_EQ(result["count"].kind(), Value::Kind::kInt);
  EXPECT_EQ(result["points"].list()[0].object()["at"].array().shape(), (Shape{3}));
  EXPECT_EQ(result["by_name"].object()["k"].array().values<double>()[1], 2.0);
}

TEST(RunCallTest, NamesTheOutputThatDoesNotFit) {
  const Value y = Array::of<double>({1});
  EXPECT_NE(fault_of({}).find("'y': Field required"), std::string::npos);
  EXPECT_NE(fault_of({{"y", y}, {"more", 1}}).find("'more'"), std::string::npos);
  EXPECT_NE(fault_of({{"y", Array::zeros(DType::kFloat64, {1, 1})}}).find("got 2D, expected 1D"), std::string::npos);
  EXPECT_NE(fault_of({{"y", Array::zeros(DType::kComplex64, {1})}}).find("complex64"), std::string::npos);
  EXPECT_NE(fault_of({{"y", "x"}}).find("'y'"), std::string::npos);
  EXPECT_NE(fault_of({{"y", y}, {"count", -1}}).find("'count'"), std::string::npos);
  EXPECT_NE(fault_of({{"y", y}, {"points", List{Object{{"at", List{1, 2}}}}}}).find("'points.[0].at'"),
            std::string::npos);
  EXPECT_NE(fault_of({{"y", y}, {"by_name", Object{{"k}", 1}}}}).find(R"(by_name.{k\}})"), std::string::npos);
  EXPECT_NE(fault_of({{"y", Array::shape_only(DType::kFloat64, {2})}}).find("'y'"), std::string::npos);
}

TEST(RunCallTest, ChecksRulesOfOutputs) {
  const auto give = [](const Object&, Context&) { return Object{{"a", 1}}; };
  const Schema outputs = Schema("OutputSchema")
                             .field("a", integer())
                             .field("b", integer(), "", 1)
                             .rule([](const Object& object) -> std::optional<std::string> {
                               return object["a"].integer() == object["b"].integer()
                                          ? std::optional<std::string>("a and b are equal")
                                          : std::nullopt;
                             });
  SilentContext context;
  const auto result = run_call(TesseractDefinition("rules").outputs(outputs).apply(give), Call(), context, false);
  EXPECT_NE(std::get<EndpointFailure>(result).text.find("a and b are equal"), std::string::npos);
}

TEST(RunCallTest, TurnsExceptionsIntoFailures) {
  SilentContext context;
  const auto run = [&context](ApplyFunction function) {
    const auto result = run_call(TesseractDefinition("throwing").apply(std::move(function)), Call(), context, false);
    return std::get<EndpointFailure>(result);
  };
  const EndpointFailure named =
      run([](const Object&, Context&) -> Object { throw EndpointError("KeyError", "no such mesh", 404); });
  EXPECT_EQ(named.kind, "KeyError");
  EXPECT_EQ(named.text, "no such mesh");
  EXPECT_EQ(named.status, 404);
  EXPECT_FALSE(named.is_output_fault);
  EXPECT_EQ(run([](const Object&, Context&) -> Object { throw std::invalid_argument("odd"); }).kind, "ValueError");
  EXPECT_EQ(run([](const Object&, Context&) -> Object { throw 5; }).kind, "RuntimeError");
}

/// Memory on a GPU, or what is said to be: counts what is waited for.
class WaitingBlock final : public DeviceBlock {
 public:
  [[nodiscard]] const Uuid& gpu() const override { return gpu_; }
  [[nodiscard]] std::uint64_t address() const override { return 0x7f0000000000; }
  [[nodiscard]] std::size_t size_bytes() const override { return 8; }
  [[nodiscard]] Status wait() const override {
    ++waits;
    return is_broken ? Status(Error(ErrorCode::kInternal, "the kernel failed")) : Status();
  }
  [[nodiscard]] Status wait_for_gpu() const override {
    ++gpu_waits;
    return {};
  }
  [[nodiscard]] Status copy_to_host(std::span<std::byte> /*bytes*/) const override { return {}; }

  bool is_broken = false;
  mutable int waits = 0;
  mutable int gpu_waits = 0;

 private:
  Uuid gpu_;
};

class RunOnGpuTest : public ::testing::Test {
 protected:
  [[nodiscard]] Array on_gpu() const { return Array::on_device(DType::kFloat64, {1}, block); }
  [[nodiscard]] std::variant<Object, EndpointFailure> run(const ApplyFunction& function) const {
    const Schema outputs = Schema("OutputSchema").field("ys", list_of(array(DType::kFloat64, {1})));
    Call call;
    call.inputs = {{"x", on_gpu()}, {"others", List{Value(on_gpu())}}};
    SilentContext context;
    return run_call(TesseractDefinition("far").outputs(outputs).apply(function), call, context, false);
  }

  std::shared_ptr<WaitingBlock> block = std::make_shared<WaitingBlock>();
};

TEST_F(RunOnGpuTest, WaitsForEachStreamOfTheResultBeforeTheInputsGo) {
  const auto result =
      run([this](const Object&, Context&) { return Object{{"ys", List{Value(on_gpu()), Value(on_gpu())}}}; });
  EXPECT_TRUE(std::holds_alternative<Object>(result));
  EXPECT_EQ(block->waits, 1);  // they name the same stream
  EXPECT_EQ(block->gpu_waits, 0);
}

TEST_F(RunOnGpuTest, WaitsForTheGpuAfterAFailure) {
  const auto result = run([](const Object&, Context&) -> Object { throw std::runtime_error("odd"); });
  EXPECT_EQ(std::get<EndpointFailure>(result).text, "odd");
  EXPECT_EQ(block->gpu_waits, 1);
}

TEST_F(RunOnGpuTest, FailsWithTheWorkThatMakesTheResult) {
  block->is_broken = true;
  const auto result = run([this](const Object&, Context&) { return Object{{"ys", List{Value(on_gpu())}}}; });
  EXPECT_EQ(std::get<EndpointFailure>(result).text, "the kernel failed");
  EXPECT_EQ(std::get<EndpointFailure>(result).kind, "RuntimeError");
}

TEST(RunAbstractEvalTest, GivesEveryFieldIfAsked) {
  const Object output = {{"y", Array::of<double>({1, 2})}, {"total", Array::shape_only(DType::kFloat64, {})}};
  const Object brief = std::get<Object>(applied(output, Endpoint::kAbstractEval, false));
  EXPECT_EQ(keys_of(brief), "y total");
  EXPECT_FALSE(brief["y"].array().has_data());
  EXPECT_EQ(brief["total"].array().dtype(), DType::kFloat32);
  const Object all = std::get<Object>(applied(output, Endpoint::kAbstractEval, true));
  EXPECT_EQ(keys_of(all), "y total count points by_name");
}

TEST(RunAbstractEvalTest, DemandsExactShapes) {
  const auto result = applied({{"y", Array::shape_only(DType::kFloat64, {2, 1})}}, Endpoint::kAbstractEval);
  EXPECT_TRUE(std::get<EndpointFailure>(result).is_output_fault);
}

class RunGradientTest : public ::testing::Test {
 protected:
  RunGradientTest() {
    definition_
        .inputs(
            Schema("InputSchema")
                .field("x", vector_of_float64().differentiable())
                .field("w", array(DType::kFloat32, {2, 3}).differentiable(), "", Array::zeros(DType::kFloat32, {2, 3}))
                .field("any", array(DType::kFloat64).differentiable().optional(), "", nullptr))
        .outputs(output_schema());
  }

  std::variant<Object, EndpointFailure> run(Endpoint endpoint, PathSet ins, PathSet outs, const Object& result) {
    definition_.jacobian([result](const Object&, const PathSet&, const PathSet&, Context&) { return result; });
    definition_.jacobian_vector_product(
        [result](const Object&, const PathSet&, const PathSet&, const Object&, Context&) { return result; });
    definition_.vector_jacobian_product(
        [result](const Object&, const PathSet&, const PathSet&, const Object&, Context&) { return result; });
    Call call;
    call.endpoint = endpoint;
    call.input_paths = std::move(ins);
    call.output_paths = std::move(outs);
    SilentContext context;
    return run_call(definition_, call, context, false);
  }

  bool is_refused(Endpoint endpoint, PathSet ins, PathSet outs, const Object& result) {
    const auto given = run(endpoint, std::move(ins), std::move(outs), result);
    const auto* failure = std::get_if<EndpointFailure>(&given);
    return failure != nullptr && failure->is_output_fault;
  }

  TesseractDefinition definition_{"gradients"};
};

TEST_F(RunGradientTest, KeepsTheOrderOfTheEndpointAndCastsToTheSchema) {
  const auto result = run(Endpoint::kVectorJacobianProduct, {"x", "w"}, {"y"},
                          {{"w", Array::zeros(DType::kFloat64, {1, 3})}, {"x", Array::of<float>({1})}});
  const auto& object = std::get<Object>(result);
  EXPECT_EQ(keys_of(object), "w x");
  EXPECT_EQ(object["w"].array().dtype(), DType::kFloat32);
  EXPECT_EQ(object["w"].array().shape(), (Shape{2, 3}));
}

TEST_F(RunGradientTest, TakesNumbersForArraysOfRankZero) {
  const auto result = run(Endpoint::kJacobianVectorProduct, {"x"}, {"total"}, {{"total", 2.5}});
  EXPECT_EQ(std::get<Object>(result)["total"].array().item<float>(), 2.5F);
}

TEST_F(RunGradientTest, DemandsTheKeysThatWereAskedFor) {
  const Value y = Array::of<double>({1});
  EXPECT_TRUE(is_refused(Endpoint::kJacobianVectorProduct, {"x"}, {"y", "total"}, {{"y", y}}));
  EXPECT_TRUE(is_refused(Endpoint::kVectorJacobianProduct, {"x"}, {"y"}, {{"x", y}, {"w", y}}));
  EXPECT_TRUE(is_refused(Endpoint::kJacobian, {"x"}, {"y"}, {{"y", Object{{"w", y}}}}));
  EXPECT_TRUE(is_refused(Endpoint::kJacobian, {"x"}, {"y"}, {{"y", y}}));
}

TEST_F(RunGradientTest, DemandsTheShapesOfBothForAJacobian) {
  const auto block = [](Shape shape) {
    return Object{{"y", Object{{"w", Array::zeros(DType::kFloat64, std::move(shape))}}}};
  };
  const auto result = run(Endpoint::kJacobian, {"w"}, {"y"}, block({5, 2, 3}));
  EXPECT_EQ(std::get<Object>(result)["y"].object()["w"].array().dtype(), DType::kFloat64);
  EXPECT_TRUE(is_refused(Endpoint::kJacobian, {"w"}, {"y"}, block({5, 3, 2})));
  EXPECT_TRUE(is_refused(Endpoint::kJacobian, {"w"}, {"y"}, block({2, 3})));
}

TEST_F(RunGradientTest, LetsAPartOfAnyRankBeAnything) {
  const auto block = [](Shape shape) {
    return Object{{"y", Object{{"any", Array::zeros(DType::kFloat64, std::move(shape))}}}};
  };
  for (const Shape& shape : {Shape{5}, Shape{5, 2, 7}}) {
    EXPECT_FALSE(is_refused(Endpoint::kJacobian, {"any"}, {"y"}, block(shape)));
  }
  EXPECT_TRUE(is_refused(Endpoint::kJacobian, {"any"}, {"y"}, block({})));
}

TEST(RunCallTest, RefusesKeysAndTextsThatAreNotUtf8) {
  const Schema outputs =
      Schema("OutputSchema").field("any", anything(), "", Value()).field("dict", dict_of(integer()), "", Object());
  SilentContext context;
  for (const char* field : {"any", "dict"}) {
    const auto give = [field](const Object&, Context&) { return Object{{field, Object{{"a\xff", 1}}}}; };
    const auto result = run_call(TesseractDefinition("keys").outputs(outputs).apply(give), Call(), context, false);
    ASSERT_TRUE(std::holds_alternative<EndpointFailure>(result)) << field;
    EXPECT_TRUE(std::get<EndpointFailure>(result).is_output_fault);
  }
  const auto give = [](const Object&, Context&) { return Object{{"any", List{Object{{"a", "\xff"}}}}}; };
  const auto result = run_call(TesseractDefinition("texts").outputs(outputs).apply(give), Call(), context, false);
  EXPECT_TRUE(std::holds_alternative<EndpointFailure>(result));
}

}  // namespace
}  // namespace tessera
