#include "tessera/daemon/config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

namespace tessera {
namespace {

using Variables = std::map<std::string, std::string>;

Result<RuntimeConfig> config_of(const Variables& variables) {
  return config_from([&variables](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string error_of(const Variables& variables) {
  const Result<RuntimeConfig> config = config_of(variables);
  return config ? "no error" : config.error().message();
}

TEST(ConfigTest, HasTheRuntimesDefaults) {
  const RuntimeConfig config = *config_of({});
  EXPECT_FALSE(config.name.has_value());
  EXPECT_FALSE(config.debug);
  EXPECT_EQ(config.output_format, OutputFormat::kJson);
  EXPECT_EQ(config.compression, Compression::kNone);
  EXPECT_EQ(config.gpu_transport, "none");
  EXPECT_EQ(config.cuda_ipc_pool_fraction, 0.25);
  EXPECT_EQ(config.input_path.lexically_relative(std::filesystem::current_path()), ".");
}

TEST(ConfigTest, ReadsEveryField) {
  const RuntimeConfig config = *config_of({{"TESSERACT_NAME", "mixer"},
                                           {"TESSERACT_VERSION", "2.0"},
                                           {"TESSERACT_DESCRIPTION", "one"},
                                           {"TESSERACT_DEBUG", "YES"},
                                           {"TESSERACT_INPUT_PATH", "/in/../data"},
                                           {"TESSERACT_OUTPUT_PATH", "out"},
                                           {"TESSERACT_OUTPUT_FORMAT", "json+binref"},
                                           {"TESSERACT_OUTPUT_FILE", "result.json"},
                                           {"TESSERACT_COMPRESSION", "lz4"},
                                           {"TESSERACT_GPU_TRANSPORT", "cuda_ipc"},
                                           {"TESSERACT_CUDA_IPC_POOL_FRACTION", "0.5"},
                                           {"TESSERACT_PROFILING", "on"},
                                           {"TESSERACT_TRACING", "t"}});
  EXPECT_EQ(config.name, "mixer");
  EXPECT_EQ(config.version, "2.0");
  EXPECT_EQ(config.description, "one");
  EXPECT_TRUE(config.debug);
  EXPECT_EQ(config.input_path, "/data");
  EXPECT_EQ(config.output_path, std::filesystem::current_path() / "out");
  EXPECT_EQ(config.output_format, OutputFormat::kBinref);
  EXPECT_EQ(config.output_file, "result.json");
  EXPECT_EQ(config.compression, Compression::kLz4);
  EXPECT_EQ(config.gpu_transport, "cuda_ipc");
  EXPECT_EQ(config.cuda_ipc_pool_fraction, 0.5);
  EXPECT_TRUE(config.profiling && config.tracing);
}

TEST(ConfigTest, RuntimePrefixWins) {
  const RuntimeConfig config =
      *config_of({{"TESSERACT_OUTPUT_FORMAT", "json+base64"}, {"TESSERACT_RUNTIME_OUTPUT_FORMAT", "json"}});
  EXPECT_EQ(config.output_format, OutputFormat::kJson);
}

TEST(ConfigTest, IgnoresUnknownVariables) {
  EXPECT_TRUE(config_of({{"TESSERACT_NO_SUCH_FIELD", "1"}, {"TESSERACT_API_PATH", "x.py"}}).has_value());
}

TEST(ConfigTest, NamesVariableValueAndChoicesOfABadFormat) {
  EXPECT_EQ(error_of({{"TESSERACT_RUNTIME_OUTPUT_FORMAT", "xml"}}),
            "TESSERACT_RUNTIME_OUTPUT_FORMAT='xml': must be 'json', 'json+base64' or 'json+binref'");
}

TEST(ConfigTest, RefusesWhatTheRuntimeRefuses) {
  EXPECT_NE(error_of({{"TESSERACT_COMPRESSION", "none"}}), "no error");
  EXPECT_NE(error_of({{"TESSERACT_COMPRESSION", ""}}), "no error");
  EXPECT_NE(error_of({{"TESSERACT_DEBUG", "maybe"}}), "no error");
  EXPECT_NE(error_of({{"TESSERACT_GPU_TRANSPORT", "CUDA_IPC"}}), "no error");
  for (const char* fraction : {"2", "-0.1", "nan", "", "0.5x"}) {
    EXPECT_NE(error_of({{"TESSERACT_CUDA_IPC_POOL_FRACTION", fraction}}), "no error") << fraction;
  }
}

TEST(ParseBooleanTest, TakesTheWordsInAnyCase) {
  for (const char* yes : {"1", "true", "Yes", "ON", "t", "Y"}) {
    EXPECT_EQ(parse_boolean(yes), true) << yes;
  }
  for (const char* no : {"0", "False", "NO", "off", "F", "n"}) {
    EXPECT_EQ(parse_boolean(no), false) << no;
  }
  for (const char* other : {"", "2", " 1", "truth"}) {
    EXPECT_EQ(parse_boolean(other), std::nullopt) << other;
  }
}

TEST(ConfigTest, RefusesTextsThatTheDocumentCannotShow) {
  EXPECT_NE(error_of({{"TESSERACT_NAME", ""}}).find("TESSERACT_NAME="), std::string::npos);
  EXPECT_NE(error_of({{"TESSERACT_VERSION", ""}}).find("TESSERACT_VERSION="), std::string::npos);
  EXPECT_EQ(error_of({{"TESSERACT_DESCRIPTION", ""}}), "no error");
  for (const char* variable : {"TESSERACT_NAME", "TESSERACT_VERSION", "TESSERACT_RUNTIME_DESCRIPTION"}) {
    EXPECT_EQ(error_of({{variable, "x\xff"}}), std::string(variable) + " must be UTF-8, but is 'x\uFFFD'");
  }
}

}  // namespace
}  // namespace tessera
