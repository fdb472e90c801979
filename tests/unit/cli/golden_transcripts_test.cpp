// The command-line transcripts of the real runtime, run again with `tessera run`. Exit code, standard output and the
// files left behind bind; what is written to standard error is worded by each program itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "program.h"
#include "support/temp_folder.h"
#include "tessera/array/base64.h"
#include "tessera/array/dtype.h"
#include "tessera/array/lz4_frame.h"
#include "tessera/array/shape.h"

namespace tessera::testing {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// Transcripts that say nothing about `tessera run`, each with the reason.
const std::map<std::string, std::string> kLeftOut = {
    {"check", "checks a Python file; a module is checked when it is loaded"},
    {"check-gradients", "a command of its own, which is not offered"},
    {"short option", "-f, -o and -i are options here, as in `tesseract run`"},
    {"no api file", "a Tesseract is named on the command line, not by TESSERACT_API_PATH"},
    {"api file not there", "TESSERACT_API_PATH is ignored"},
    {"two workers with a transport", "a serve; several workers are allowed with a transport"},
    {"port in use", "a serve; see ServeCommandTest.DoesNotMoveFromAPortThatIsTaken"},
};

Json read_json(const fs::path& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

const fs::path kVectors = fs::path(TESSERA_TESTS_DIR) / "vectors";

std::vector<Json> transcripts() {
  const Json all = read_json(kVectors / "cli/tesseract_runtime.json");
  std::vector<Json> chosen;
  for (const Json& transcript : all.at("transcripts")) {
    if (!kLeftOut.contains(transcript.at("name"))) {
      chosen.push_back(transcript);
    }
  }
  return chosen;
}

std::string decode_base64(const std::string& text) {
  std::string bytes(base64_decoded_size(text).value_or(0), '\0');
  EXPECT_TRUE(base64_decode(text, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

// Frames may differ, so compressed buffers are replaced by what they decompress to.
void decompress_arrays(Json& tree) {
  if (tree.is_object() && tree.value("object_type", "") == "array" && tree["data"].value("compression", "") == "lz4") {
    const auto shape = tree["shape"].get<Shape>();
    const std::string frame = decode_base64(tree["data"]["buffer"]);
    const DType dtype = find_dtype(tree["dtype"].get<std::string>()).value_or(DType::kFloat64);
    std::string bytes(byte_count(shape, dtype).value_or(0), '\0');
    const Status status = lz4_decompress(std::as_bytes(std::span(frame)), std::as_writable_bytes(std::span(bytes)));
    EXPECT_TRUE(status.has_value());
    tree["data"]["buffer"] = Json::binary_t({bytes.begin(), bytes.end()});
  } else if (tree.is_structured()) {
    for (Json& item : tree) {
      decompress_arrays(item);
    }
  }
}

Json decompressed(const std::string& text) {
  Json tree = Json::parse(text);
  decompress_arrays(tree);
  return tree;
}

class GoldenTranscriptsTest : public ::testing::TestWithParam<Json> {
 protected:
  void SetUp() override {
    folder.write("payload.json", R"({"inputs":{"x":[1.0,2.0]}})");
    std::string numbers;
    for (int i = 0; i < 10; ++i) {
      const double number = i;
      numbers.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
    folder.write("data/ten.bin", numbers);
  }

  // What stood before the command stands before it here too: `run <mixer> [flags] COMMAND …`.
  static Words words_of(const Json& transcript) {
    Words words = {"run", TESSERA_MIXER};
    for (const Json& word : transcript.at("argv")) {
      words.push_back(word);
    }
    return words;
  }

  static Environment environment_of(const Json& transcript) {
    // The document's title is the configured name; upstream's default is that of no Tesseract in particular.
    Environment environment = {{"TESSERACT_NAME", "Tesseract"}};
    for (const auto& [name, value] : transcript.at("env").items()) {
      environment[name] = value;
    }
    return environment;
  }

  static void compare_output(const Json& transcript, const std::string& output) {
    if (transcript.contains("stdout_equals_file")) {
      EXPECT_EQ(Json::parse(output), read_json(kVectors / transcript["stdout_equals_file"].get<std::string>()));
    } else if (transcript.contains("stdout_regex")) {
      EXPECT_TRUE(std::regex_match(output, std::regex(transcript["stdout_regex"].get<std::string>()))) << output;
    } else if (const std::string expected = transcript.at("stdout"); expected.find("lz4") != std::string::npos) {
      EXPECT_EQ(decompressed(output), decompressed(expected));
    } else {
      EXPECT_EQ(output, expected);
    }
  }

  void compare_files(const Json& expected) const {
    std::map<std::string, std::string> left;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder.path())) {
      const std::string name = fs::relative(entry.path(), folder.path()).string();
      if (entry.is_regular_file() && name != "payload.json" && name != "data/ten.bin") {
        static const std::regex kId("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
        left[std::regex_replace(name, kId, "<uuid4>")] = folder.read(name);
      }
    }
    std::map<std::string, std::string> wanted;
    for (const auto& [name, content] : expected.items()) {
      wanted[name] = content.contains("text") ? content["text"].get<std::string>() : decode_base64(content["base64"]);
    }
    EXPECT_EQ(left, wanted);
  }

  TempFolder folder;
};

TEST_P(GoldenTranscriptsTest, IsTheSameHere) {
  const Json& transcript = GetParam();
  const Outcome outcome = run_tessera(words_of(transcript), folder.path(), environment_of(transcript));
  EXPECT_EQ(outcome.exit_code, transcript.at("exit_code").get<int>()) << outcome.error;
  compare_output(transcript, outcome.output);
  compare_files(transcript.at("files"));
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTranscriptsTest, ::testing::ValuesIn(transcripts()),
                         [](const ::testing::TestParamInfo<Json>& instance) {
                           std::string name = instance.param.at("name");
                           std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(GoldenTranscriptsListTest, LeavesOutOnlyWhatIsThere) {
  const Json all = read_json(kVectors / "cli/tesseract_runtime.json");
  std::set<std::string> names;
  for (const Json& transcript : all.at("transcripts")) {
    names.insert(transcript.at("name"));
  }
  for (const auto& [name, reason] : kLeftOut) {
    EXPECT_TRUE(names.contains(name)) << name << ": " << reason;
  }
}

}  // namespace
}  // namespace tessera::testing
