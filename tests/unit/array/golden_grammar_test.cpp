#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cuda_ipc_pattern.h"
#include "tessera/array/binref.h"

namespace tessera {
namespace {

nlohmann::json grammar() {
  std::ifstream file(TESSERA_TESTS_DIR "/vectors/grammar.json");
  return nlohmann::json::parse(file);
}

TEST(GoldenGrammarTest, ReadsReferencesAsTheRuntimeDoes) {
  const nlohmann::json cases = grammar().at("binref_buffer");
  ASSERT_FALSE(cases.empty());
  for (const auto& entry : cases) {
    const auto text = entry.at("buffer").get<std::string>();
    const std::optional<BinrefReference> reference = parse_binref(text);
    ASSERT_EQ(reference.has_value(), entry.at("valid").get<bool>()) << text;
    if (reference) {
      const auto number = [&entry](const char* key) {
        return entry.at(key).is_null() ? std::nullopt : std::optional(entry.at(key).get<std::uint64_t>());
      };
      EXPECT_EQ(reference->path, entry.at("path").get<std::string>()) << text;
      EXPECT_EQ(reference->offset_bytes, number("offset")) << text;
      EXPECT_EQ(reference->compressed_size_bytes, number("compressed_size")) << text;
    }
  }
}

TEST(GoldenGrammarTest, TellsDescriptorsOfGpuMemoryFromOtherTexts) {
  const nlohmann::json cases = grammar().at("cuda_ipc_buffer");
  ASSERT_FALSE(cases.empty());
  for (const auto& entry : cases) {
    const auto text = entry.at("buffer").get<std::string>();
    EXPECT_EQ(is_cuda_ipc_buffer(text), entry.at("valid").get<bool>()) << text;
  }
}

}  // namespace
}  // namespace tessera
