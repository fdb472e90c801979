#include "tessera/array/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace tessera {
namespace {

TEST(DTypeTest, FindsEveryTypeByItsName) {
  for (const DType dtype : all_dtypes()) {
    EXPECT_EQ(find_dtype(name_of(dtype)), dtype) << name_of(dtype);
  }
}

TEST(DTypeTest, RefusesOtherSpellings) {
  for (const char* name : {"bfloat16", "<f8", "Float64", "float", "int", "", "float64 ", "complex256"}) {
    EXPECT_EQ(find_dtype(name), std::nullopt) << name;
  }
}

TEST(DTypeTest, HasTheSizesOfTheCppTypes) {
  for (const DType dtype : all_dtypes()) {
    const std::size_t size = visit_dtype(dtype, [](auto element) { return sizeof(element); });
    EXPECT_EQ(item_size_bytes(dtype), size) << name_of(dtype);
  }
}

TEST(DTypeTest, VisitsTheTypeThatHasThisDType) {
  for (const DType dtype : all_dtypes()) {
    EXPECT_EQ(visit_dtype(dtype, [](auto element) { return kDTypeOf<decltype(element)>; }), dtype);
  }
}

TEST(GoldenDTypeTest, CastsWhatTheRealRuntimeCasts) {
  std::ifstream file(std::filesystem::path(TESSERA_TESTS_DIR) / "vectors/coercion.json");
  const auto castable = nlohmann::json::parse(file).at("castable");
  ASSERT_EQ(castable.size(), kDTypeCount);
  for (const DType to : all_dtypes()) {
    const auto accepted = castable.at(std::string(name_of(to))).get<std::vector<std::string>>();
    for (const DType from : all_dtypes()) {
      const bool is_accepted = std::ranges::find(accepted, name_of(from)) != accepted.end();
      EXPECT_EQ(is_castable(from, to), is_accepted) << name_of(from) << " to " << name_of(to);
    }
  }
}

}  // namespace
}  // namespace tessera
