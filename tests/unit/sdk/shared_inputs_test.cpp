// Arrays that are sent as files: whether the server reads them is found out, and files are written over.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "client_errors.h"
#include "served_modules.h"
#include "support/temp_folder.h"
#include "tessera/sdk/array_input.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ServedModules;
using ::testing::SizeIs;

class SharedInputsTest : public ::testing::Test {
 protected:
  [[nodiscard]] Tesseract connect(const std::filesystem::path& folder) {
    ClientOptions options;
    options.server_input_path = folder;
    options.server_output_path = served_.output_path();
    options.warn = [this](std::string_view sentence) { warnings_.emplace_back(sentence); };
    return Tesseract::from_url(served_.url(), options).with_encoding({.output_format = "json+binref"});
  }
  [[nodiscard]] static std::set<std::string> names_in(const std::filesystem::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      names.insert(entry.path().filename());
    }
    return names;
  }
  static void expect_back(const Tesseract& tesseract, const Array& array) {
    const Value result = tesseract.apply({{"x", array}});
    EXPECT_TRUE(std::ranges::equal(result.object().at("x").array().bytes(), array.bytes()));
  }

  const ServedModules served_{"examples/identity"};
  std::vector<std::string> warnings_;
};

TEST_F(SharedInputsTest, AreWrittenOverByTheNextCall) {
  {
    const Tesseract tesseract = connect(served_.input_path());
    expect_back(tesseract, Array::of<float>({1, 2, 3, 4, 5}));
    const std::set<std::string> first = names_in(served_.input_path());
    EXPECT_THAT(first, SizeIs(1));
    expect_back(tesseract, Array::of<float>({6}));
    expect_back(tesseract, Array::zeros(DType::kFloat32, {100'000}));
    EXPECT_EQ(names_in(served_.input_path()), first);
  }
  EXPECT_THAT(names_in(served_.input_path()), IsEmpty());
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(SharedInputsTest, AreRemovedWithACallThatFails) {
  const Tesseract tesseract = connect(served_.input_path());
  testing::expect_error(ClientError::Kind::kRefused, "body.inputs.y",
                        [&] { static_cast<void>(tesseract.apply({{"x", Array::of<float>({1})}, {"y", 1}})); });
  expect_back(tesseract, Array::of<float>({1, 2}));
  EXPECT_THAT(names_in(served_.input_path()), SizeIs(1));
}

TEST_F(SharedInputsTest, GoAsBase64WhereTheServerReadsAnotherFolder) {
  const testing::TempFolder elsewhere;
  const Tesseract tesseract = connect(elsewhere.path());
  expect_back(tesseract, Array::of<float>({1, 2}));
  expect_back(tesseract, Array::of<float>({3, 4}));
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("does not read the files that this process writes to " +
                                      elsewhere.path().string() + ", so arrays are sent as base64 instead"));
  EXPECT_THAT(names_in(elsewhere.path()), IsEmpty());
}

TEST(ArrayInputTest, IsTheFirstThatTakesAnySize) {
  const ServedModules served("examples/everything");
  const auto input = find_array_input(Tesseract::from_url(served.url()).input_schema());
  ASSERT_TRUE(input.has_value());
  EXPECT_EQ(input->shape_of(7).front(), 7);
}

TEST(ArrayInputTest, IsNoneWhereOtherKeysAreTaken) {
  EXPECT_FALSE(find_array_input(Value(Object{{"properties", Object()}, {"additionalProperties", true}})).has_value());
  EXPECT_FALSE(find_array_input(Value(Object{{"properties", Object()}})).has_value());
  EXPECT_FALSE(find_array_input(Value(3)).has_value());
}

}  // namespace
}  // namespace tessera
