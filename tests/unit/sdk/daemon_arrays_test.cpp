// Arrays of every dtype in every encoding, to our own daemon and back.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>

#include "client_errors.h"
#include "served_modules.h"
#include "support/encoding_ways.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using testing::expect_error;
using testing::ServedModules;
using ::testing::SizeIs;

class DaemonArraysTest : public ::testing::TestWithParam<testing::EncodingWay> {
 protected:
  [[nodiscard]] Tesseract connect() const {
    ClientOptions options;
    options.server_output_path = served_.output_path();
    if (GetParam().sends_files) {
      options.server_input_path = served_.input_path();
    }
    return Tesseract::from_url(served_.url(), options).with_encoding(GetParam().encoding);
  }
  // What comes back from `everything` for its field `any_array`.
  [[nodiscard]] Array there_and_back(const Array& array) const {
    return connect().apply({{"any_array", array}}).object()["any_array"].array();
  }
  [[nodiscard]] std::size_t input_files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(served_.input_path()), {}));
  }

  const ServedModules served_{"examples/everything"};
};

INSTANTIATE_TEST_SUITE_P(Ways, DaemonArraysTest, ::testing::ValuesIn(testing::encoding_ways()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(DaemonArraysTest, KeepEveryDtype) {
  for (const DType dtype : all_dtypes()) {
    const Array array = testing::two_by_three(dtype);
    const Array back = there_and_back(array);
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.shape(), (Shape{2, 3}));
    EXPECT_TRUE(std::ranges::equal(back.bytes(), array.bytes())) << static_cast<int>(dtype);
  }
}

TEST_P(DaemonArraysTest, KeepEveryShape) {
  for (const Shape& shape : testing::odd_shapes()) {
    const Array array = testing::counting_up(shape);
    const Array back = there_and_back(array);
    EXPECT_EQ(back.shape(), shape);
    EXPECT_TRUE(std::ranges::equal(back.bytes(), array.bytes()));
  }
}

TEST_P(DaemonArraysTest, KeepALargeArray) {
  const Array array = testing::million_numbers();
  EXPECT_TRUE(std::ranges::equal(there_and_back(array).bytes(), array.bytes()));
}

TEST_P(DaemonArraysTest, AreInListsAndObjects) {
  const Value result =
      connect().apply({{"arrays", List{Value(Array::of<float>({1.0F})), Value(Array::of<float>({2.0F, 3.0F}))}},
                       {"fields", Object{{"p", Array::of({4.0})}}},
                       {"nested", Object{{"inner", Object{{"values", Array::of({5.0})}}}}}});
  const Object& object = result.object();
  EXPECT_EQ(object["arrays"].list()[1].array().values<float>()[1], 3.0F);
  EXPECT_EQ(object["fields"].object()["p"].array().values<double>()[0], 4.0);
  EXPECT_EQ(object["nested"].object()["inner"].object()["values"].array().values<double>()[0], 5.0);
}

TEST_P(DaemonArraysTest, LeaveNoInputFilesBehind) {
  static_cast<void>(there_and_back(Array::of({1.0, 2.0})));
  EXPECT_EQ(input_files(), 0U);
  expect_error(Kind::kRefused, "",
               [this] { static_cast<void>(connect().apply({{"any_array", Array::of({1.0})}, {"nonsense", 1}})); });
  EXPECT_EQ(input_files(), 0U);
}

TEST_P(DaemonArraysTest, AreWritable) {
  Array back = there_and_back(Array::of({1.0, 2.0}));
  back.mutable_values<double>()[0] = 7.0;
  EXPECT_EQ(back.values<double>()[0], 7.0);
}

TEST(DaemonFilesTest, NeedTheFolderToBeRead) {
  const ServedModules served("examples/identity");
  const Tesseract client = Tesseract::from_url(served.url()).with_encoding({.output_format = "json+binref"});
  expect_error(Kind::kInvalidArgument, "output_path must be set",
               [&client] { static_cast<void>(client.apply({{"x", Array::of<float>({1.0F})}})); });
}

TEST(DaemonFilesTest, AreNotLookedForElsewhere) {
  const ServedModules served("examples/identity");
  const testing::TempFolder other;
  ClientOptions options;
  options.server_output_path = other.path();
  const Tesseract client = Tesseract::from_url(served.url(), options).with_encoding({.output_format = "json+binref"});
  expect_error(Kind::kBadResponse, "result: x (binref)",
               [&client] { static_cast<void>(client.apply({{"x", Array::of<float>({1.0F})}})); });
}

TEST(DaemonEncodingTest, IsThatOfTheView) {
  const ServedModules served("examples/identity");
  const Tesseract client = Tesseract::from_url(served.url());
  const Tesseract fast = client.with_encoding({.output_format = "json+base64"});
  const Tesseract small = fast.with_encoding({.compression = "lz4"});
  EXPECT_EQ(client.current_encoding(), RequestedEncoding());
  EXPECT_EQ(small.current_encoding().output_format, "json+base64");
  EXPECT_EQ(small.current_encoding().compression, "lz4");
  expect_error(Kind::kInvalidArgument, "This Tesseract does not accept gpu_transport='cuda_ipc' (accepted: ('none',))",
               [&client] { static_cast<void>(client.with_encoding({.gpu_transport = "cuda_ipc"})); });
  expect_error(Kind::kInvalidArgument, "does not accept output_format='json+msgpack'",
               [&client] { static_cast<void>(client.with_encoding({.output_format = "json+msgpack"})); });
}

TEST(DaemonProgressTest, IsReportedOfLargeTransfersAlone) {
  const ServedModules served("examples/identity");
  std::vector<std::pair<std::uint64_t, std::uint64_t>> reports;
  ClientOptions options;
  options.progress_from_bytes = 1'000'000;
  options.progress = [&reports](std::uint64_t done, std::uint64_t total) { reports.emplace_back(done, total); };
  const Tesseract client = Tesseract::from_url(served.url(), options).with_encoding({.output_format = "json+base64"});
  static_cast<void>(client.apply({{"x", Array::zeros(DType::kFloat32, {1000})}}));
  EXPECT_THAT(reports, SizeIs(0));
  static_cast<void>(client.apply({{"x", Array::zeros(DType::kFloat32, {8'000'000})}}));
  ASSERT_GE(reports.size(), 4U);
  const auto is_whole = [](const auto& report) { return report.first == report.second; };
  EXPECT_EQ(std::ranges::count_if(reports, is_whole), 2);  // there, and back
  EXPECT_TRUE(is_whole(reports.back()));
}

TEST(DaemonProgressTest, EndsTheCallIfItThrows) {
  const ServedModules served("examples/identity");
  ClientOptions options;
  options.progress_from_bytes = 1'000'000;
  options.progress = [](std::uint64_t, std::uint64_t) { throw std::runtime_error("enough"); };
  const Tesseract client = Tesseract::from_url(served.url(), options);
  EXPECT_THROW(static_cast<void>(client.apply({{"x", Array::zeros(DType::kFloat32, {8'000'000})}})),
               std::runtime_error);
  EXPECT_EQ(client.health().object()["status"].text(), "ok");
}

}  // namespace
}  // namespace tessera
