// Arrays of every dtype and shape in every encoding, there and back.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "given_servers.h"
#include "support/encoding_ways.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using testing::elements_of;
using ::testing::ElementsAre;
using testing::expect_error;

class EncodingsTest : public testing::ServerTest, public ::testing::WithParamInterface<testing::EncodingWay> {
 protected:
  EncodingsTest() : ServerTest("everything") {}

  [[nodiscard]] Tesseract client() {
    ClientOptions with_folders = options();
    if (GetParam().sends_files) {
      with_folders.server_input_path = server().input_path;
    }
    return Tesseract::from_url(server().url, with_folders).with_encoding(GetParam().encoding);
  }
  [[nodiscard]] bool is_text() const { return GetParam().encoding.output_format.value_or("json") == "json"; }
  [[nodiscard]] bool has_input_files() const { return !std::filesystem::is_empty(server().input_path); }
};

INSTANTIATE_TEST_SUITE_P(Ways, EncodingsTest, ::testing::ValuesIn(testing::encoding_ways()),
                         [](const auto& each) { return std::string(each.param.name); });

void expect_same(const Value& value, const Array& wanted) {
  const Array& array = value.array();
  EXPECT_EQ(array.dtype(), wanted.dtype());
  EXPECT_EQ(array.shape(), wanted.shape());
  EXPECT_TRUE(std::ranges::equal(array.bytes(), wanted.bytes())) << name_of(wanted.dtype());
}

TEST_P(EncodingsTest, KeepEveryDtype) {
  const Tesseract everything = client();
  for (const DType dtype : all_dtypes()) {
    const Array array = testing::two_by_three(dtype);
    expect_same(everything.apply({{"any_array", array}}).object()["any_array"], array);
  }
}

TEST_P(EncodingsTest, KeepEveryShape) {
  const Tesseract everything = client();
  for (const Shape& shape : testing::odd_shapes()) {
    const Array array = testing::counting_up(shape);
    expect_same(everything.apply({{"any_array", array}}).object()["any_array"], array);
  }
}

TEST_P(EncodingsTest, KeepALargeArray) {
  const Array array = testing::million_numbers();
  const Tesseract everything = client();
  for (int round = 0; round != 2; ++round) {
    expect_same(everything.apply({{"any_array", array}}).object()["any_array"], array);
    EXPECT_FALSE(has_input_files() && !GetParam().sends_files);
  }
}

TEST_P(EncodingsTest, KeepSpecialNumbers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Array array = Array::of({-0.0, 1e-310, std::numeric_limits<double>::max(), std::nan(""), kInfinity, 0.1});
  const std::vector<double> back = elements_of<double>(client().apply({{"f64", array}}).object()["f64"]);
  ASSERT_EQ(back.size(), 6U);
  EXPECT_TRUE(back[0] == 0.0 && std::signbit(back[0]));
  EXPECT_EQ(back[1], 1e-310);
  EXPECT_EQ(back[2], std::numeric_limits<double>::max());
  EXPECT_TRUE(std::isnan(back[3]));
  if (is_text()) {
    EXPECT_TRUE(std::isnan(back[4]));  // JSON has neither: both are null
  } else {
    EXPECT_EQ(back[4], kInfinity);
  }
  EXPECT_EQ(back[5], 0.1);
}

TEST_P(EncodingsTest, KeepTheFormOfTrees) {
  const Object inputs{
      {"arrays", List{Value(Array::of<float>({1.0F})), Value(Array::of<float>({2.0F, 3.0F}))}},
      {"fields", Object{{"p", Array::of({4.0})}, {"with space", Array::of({4.5})}}},
      {"points", List{Value(Object{{"label", "a"}, {"position", Array::of({1.0, 2.0, 3.0})}, {"mass", 2.0}})}},
      {"nested", Object{{"title", "t"}, {"inner", Object{{"values", Array::of({6.0})}, {"note", nullptr}}}}},
      {"text", "\xC3\xBC"},
      {"open", Object{{"known", 1}, {"more", List{1, 2}}}}};
  const Value result = client().apply(inputs);
  const Object& body = result.object();
  expect_same(body["arrays"].list().at(1), Array::of<float>({2.0F, 3.0F}));
  expect_same(body["fields"].object()["with space"], Array::of({4.5}));
  expect_same(body["points"].list().at(0).object()["position"], Array::of({1.0, 2.0, 3.0}));
  expect_same(body["nested"].object()["inner"].object()["values"], Array::of({6.0}));
  EXPECT_TRUE(body["nested"].object()["inner"].object()["note"].is_null());
  EXPECT_EQ(body["text"].text(), "\xC3\xBC");
  EXPECT_EQ(body["open"].object()["more"].list().at(1).integer(), 2);
  EXPECT_EQ(body["seen"].object()["fields.{p}"].text(), "float64[1]");
}

TEST_P(EncodingsTest, AreThoseOfGradientsToo) {
  const Tesseract everything = client();
  const Object inputs{{"fields", Object{{"p", Array::of({4.0, 5.0})}}},
                      {"nested", Object{{"inner", Object{{"values", Array::of({6.0})}}}}}};
  const Array weight = Array::of({0.5, -1.0});
  const Value backward =
      everything.vector_jacobian_product(inputs, {"fields.{p}"}, {"fields.{p}"}, {{"fields.{p}", weight}});
  expect_same(backward.object()["fields.{p}"], weight);
  const Value forward = everything.jacobian_vector_product(inputs, {"nested.inner.values"}, {"nested.inner.values"},
                                                           {{"nested.inner.values", Array::of({3.0})}});
  expect_same(forward.object()["nested.inner.values"], Array::of({3.0}));
  const Value all = everything.jacobian(inputs, {"fields.{p}"}, {"fields.{p}"});
  EXPECT_THAT(elements_of<double>(all.object()["fields.{p}"].object()["fields.{p}"]), ElementsAre(1.0, 0.0, 0.0, 1.0));
}

TEST_P(EncodingsTest, GiveArraysThatMayBeWrittenTo) {
  Value result = client().apply({{"any_array", Array::of({1.0, 2.0})}});
  Array back = result.object()["any_array"].array();
  back.mutable_values<double>()[0] = 7.0;
  EXPECT_EQ(back.values<double>()[0], 7.0);
}

TEST_P(EncodingsTest, LeaveNoInputFilesBehind) {
  {
    const Tesseract everything = client();
    static_cast<void>(everything.apply({{"any_array", Array::of({1.0, 2.0})}}));
    expect_error(Kind::kRefused, "nonsense",
                 [&] { static_cast<void>(everything.apply({{"any_array", Array::of({1.0})}, {"nonsense", 1}})); });
  }
  EXPECT_FALSE(has_input_files());
}

class ViewsTest : public testing::ServerTest {
 protected:
  ViewsTest() : ServerTest("everything") {}
};

TEST_F(ViewsTest, HaveAnEncodingOfTheirOwn) {
  const Tesseract client = connect();
  const Tesseract base64 = client.with_encoding({.output_format = "json+base64"});
  const Tesseract lz4 = base64.with_encoding({.compression = "lz4"});
  EXPECT_EQ(client.current_encoding(), RequestedEncoding());
  EXPECT_EQ(base64.current_encoding(), (RequestedEncoding{.output_format = "json+base64"}));
  EXPECT_EQ(lz4.current_encoding(), (RequestedEncoding{.output_format = "json+base64", .compression = "lz4"}));
  const std::string body = R"({"inputs":{"f32":[0,0,0,0]}})";
  EXPECT_THAT(client.call_text("apply", body), ::testing::HasSubstr(R"("encoding":"json"})"));
  EXPECT_THAT(base64.call_text("apply", body), ::testing::HasSubstr(R"("encoding":"base64"})"));
  EXPECT_THAT(lz4.call_text("apply", body), ::testing::HasSubstr(R"("encoding":"base64","compression":"lz4"})"));
}

TEST_F(ViewsTest, OutliveWhatTheyWereMadeOf) {
  std::optional<Tesseract> client = connect();
  const Tesseract view = client->with_encoding({.output_format = "json+base64"});
  client.reset();
  const Value result = view.apply({{"f64", Array::of({1.0})}});
  EXPECT_THAT(elements_of<double>(result.object()["f64"]), ElementsAre(1.0));
}

TEST_F(ViewsTest, NeedTheFolderOfTheServerToReadFiles) {
  ClientOptions without = options();
  without.server_output_path.reset();
  const Tesseract client = Tesseract::from_url(server().url, without).with_encoding({.output_format = "json+binref"});
  expect_error(Kind::kInvalidArgument, "output_path must be set",
               [&client] { static_cast<void>(client.apply({{"f64", Array::of({1.0})}})); });
}

TEST_F(ViewsTest, SendBase64IfTheServerReadsAnotherFolder) {
  const std::filesystem::path elsewhere = server().input_path.parent_path() / "elsewhere";
  std::filesystem::create_directory(elsewhere);
  ClientOptions other = options();
  other.server_input_path = elsewhere;
  testing::Warnings expected;
  other.warn = expected.collector();
  const Tesseract client = Tesseract::from_url(server().url, other).with_encoding({.output_format = "json+binref"});
  for (int round = 0; round != 2; ++round) {
    const Value result = client.apply({{"f64", Array::of({1.0})}});
    EXPECT_THAT(elements_of<double>(result.object()["f64"]), ElementsAre(1.0));
  }
  ASSERT_THAT(expected.sentences(), ::testing::SizeIs(1));
  EXPECT_THAT(expected.sentences()[0], ::testing::HasSubstr("arrays are sent as base64 instead"));
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere));
}

TEST_F(ViewsTest, ResolveToNoTransportWhereTheServerOffersNone) {
  EXPECT_EQ(connect().resolve_gpu_transport(), "none");
  EXPECT_EQ(connect({.gpu_transport = "none"}).resolve_gpu_transport(), "none");
}

class ConfiguredFormatTest : public testing::ServerTest {
 protected:
  ConfiguredFormatTest() : ServerTest("identity_binref") {}
};

TEST_F(ConfiguredFormatTest, IsReadWithoutBeingAskedFor) {
  const Array x = Array::of<float>({1.5F, 0.0F, -2.0F});
  EXPECT_THAT(elements_of<float>(connect().apply({{"x", x}}).object()["x"]), ElementsAre(1.5F, 0.0F, -2.0F));
  EXPECT_THAT(connect().call_text("apply", R"({"inputs":{"x":[0,0,0,0]}})"),
              ::testing::HasSubstr(R"("encoding":"binref","compression":"lz4"})"));
}

}  // namespace
}  // namespace tessera
