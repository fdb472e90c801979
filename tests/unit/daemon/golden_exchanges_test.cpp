// Every exchange of tests/vectors/http with the mixer, compared as tests/vectors/README.md says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "service_client.h"
#include "support/manual_clock.h"
#include "support/recording_logger.h"
#include "support/temp_folder.h"
#include "tessera/array/base64.h"
#include "tessera/array/binref.h"
#include "tessera/array/lz4_frame.h"
#include "tessera/base/file.h"
#include "tessera/daemon/config.h"

namespace tessera::testing {
namespace {

using Json = nlohmann::json;

/// Where we differ from the recorded runtime, as PROTOCOL.md section 17 allows: our status, and why.
struct Exception {
  int status;
  const char* reason;
};
const std::map<std::string, Exception>& exceptions() {
  static const std::map<std::string, Exception> kAll = {
      {"docs", {200, "the page is our own and needs no network"}},
      {"root", {200, "GET / lists what is served"}},
      {"error item not serialisable", {422, "an item whose input holds NaN is written with null, not answered 500"}},
  };
  return kAll;
}

Json load(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(TESSERA_TESTS_DIR) / "vectors" / "http" / name;
  const Result<std::string> text = read_file(path, std::uint64_t{1} << 30);
  if (!text) {
    ADD_FAILURE() << text.error().message();
    return {};
  }
  return Json::parse(*text);
}

std::string decode_base64_text(const std::string& text) {
  std::string bytes(base64_decoded_size(text).value_or(0), '\0');
  EXPECT_TRUE(base64_decode(text, std::as_writable_bytes(std::span(bytes)))) << text;
  return bytes;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// A service configured as one file of exchanges says.
class GoldenServer {
 public:
  explicit GoldenServer(const Json& file) {
    for (const auto& [name, content] : file["input_files"].items()) {
      input_.write(name, decode_base64_text(content));
    }
    logger_.expect("endpoint failed");
    logger_.expect("endpoint returned");
    std::map<std::string, std::string> variables = file["env"];
    variables["TESSERACT_INPUT_PATH"] = input_.path().string();
    variables["TESSERACT_OUTPUT_PATH"] = output_.path().string();
    DaemonOptions options;
    options.config = *config_from([&variables](const std::string& name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
    service_ = *Service::make(options, {make_mixer()}, logger_, clock_);
  }

  Answer send(const Json& recorded) {
    OwnedRequest request{recorded["method"], recorded["target"], {{"host", "127.0.0.1"}}, ""};
    for (const Json& header : recorded["headers"]) {
      std::string name = header[0];
      std::ranges::transform(name, name.begin(),
                             [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
      request.headers.emplace_back(name, header[1]);
    }
    request.body = recorded.contains("body_base64") ? decode_base64_text(recorded["body_base64"])
                                                    : fill_in(recorded.value("body", ""));
    return testing::send(*service_, request);
  }

  [[nodiscard]] std::string fill_in(std::string text) const {
    replace_all(text, "${INPUT}", input_.path().string());
    replace_all(text, "${OUTPUT}", output_.path().string());
    return text;
  }

  [[nodiscard]] const TempFolder& output() const { return output_; }

  /// The bytes that an array object of an answer refers to.
  [[nodiscard]] std::string resolve(const Json& data) const {
    const BinrefReference reference = parse_binref(data["buffer"].get<std::string>()).value_or(BinrefReference{});
    const std::string content = output_.read(reference.path);
    const std::size_t offset = reference.offset_bytes.value_or(0);
    if (!data.contains("compression")) {
      return content.substr(offset);
    }
    return content.substr(offset, reference.compressed_size_bytes.value_or(0));
  }

 private:
  TempFolder input_;
  TempFolder output_;
  RecordingLogger logger_;
  ManualClock clock_;
  std::unique_ptr<Service> service_;
};

std::string decompress(const std::string& frame, std::size_t size) {
  std::string bytes(size, '\0');
  const Status status = lz4_decompress(std::as_bytes(std::span(frame)), std::as_writable_bytes(std::span(bytes)));
  EXPECT_TRUE(status.has_value());
  return bytes;
}

std::size_t array_size(const Json& array) {
  std::size_t size = item_size_bytes(find_dtype(array["dtype"].get<std::string>()).value_or(DType::kFloat64));
  for (const Json& axis : array["shape"]) {
    size *= axis.get<std::size_t>();
  }
  return size;
}

/// Writes compressed base64 buffers as what they decompress to: frames need not be equal byte for byte.
void unpack_frames(Json& value) {
  if (value.is_object() && value.contains("data") && value["data"].is_object() &&
      value["data"].value("compression", Json()) == "lz4" && value["data"]["encoding"] == "base64") {
    const std::string frame = decode_base64_text(value["data"]["buffer"]);
    const std::string bytes = decompress(frame, array_size(value));
    value["data"]["buffer"] = Json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  } else if (value.is_structured()) {
    for (Json& member : value) {
      unpack_frames(member);
    }
  }
}

struct Exchange {
  std::string file;
  Json recorded;
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
void PrintTo(const Exchange& exchange, std::ostream* out) {
  *out << exchange.file << ": " << exchange.recorded["name"];
}

std::vector<Exchange> all_exchanges() {
  std::vector<Exchange> exchanges;
  for (const char* file : {"default.json", "debug.json"}) {
    const Json content = load(file);
    for (const Json& recorded : content["exchanges"]) {
      exchanges.push_back({file, recorded});
    }
  }
  return exchanges;
}

class GoldenExchangeTest : public ::testing::TestWithParam<Exchange> {
 protected:
  static void TearDownTestSuite() { servers().clear(); }

  static GoldenServer& server(const std::string& file) {
    std::unique_ptr<GoldenServer>& server = servers()[file];
    if (!server) {
      server = std::make_unique<GoldenServer>(load(file));
    }
    return *server;
  }

  static void expect_headers(const Answer& answer, const Json& wanted) {
    for (const auto& [name, value] : wanted.items()) {
      if (name == "content-type") {
        EXPECT_EQ(Json(answer.content_type), value);
      } else if (name == "allow") {
        EXPECT_EQ(Json(answer.header("Allow")), value);
      } else if (name == "location") {
        EXPECT_EQ(Json(answer.header("Location")), value);
      } else {
        EXPECT_EQ(name, "content-length") << "a header that this test does not know";
      }
    }
  }

  static void expect_json(GoldenServer& server, const std::string& body, const Json& recorded) {
    Json actual = Json::parse(body, nullptr, false);
    Json wanted = Json::parse(server.fill_in(recorded["response"]["body"]));
    ASSERT_FALSE(actual.is_discarded()) << body;
    const Json references = recorded.value("resolves_to_base64", Json::object());
    for (const auto& [pointer, bytes] : references.items()) {
      expect_resolved(server, actual, Json::json_pointer(pointer), decode_base64_text(bytes));
    }
    for (const Json& vary : recorded.value("vary", Json::array())) {
      const Json::json_pointer pointer(vary["pointer"].get<std::string>());
      EXPECT_TRUE(std::regex_match(actual.at(pointer).get<std::string>(), std::regex(vary["regex"].get<std::string>())))
          << actual.at(pointer);
      actual[pointer] = wanted[pointer];
    }
    for (const Json& foreign : recorded.value("foreign_text", Json::array())) {
      const Json::json_pointer pointer(foreign.get<std::string>());
      EXPECT_FALSE(actual.at(pointer).get<std::string>().empty()) << foreign;
      actual[pointer] = wanted[pointer];
    }
    unpack_frames(actual);
    unpack_frames(wanted);
    EXPECT_EQ(actual, wanted);
  }

  static void expect_resolved(const GoldenServer& server, const Json& body, const Json::json_pointer& pointer,
                              const std::string& bytes) {
    const Json& array = body.at(pointer.parent_pointer().parent_pointer());
    const std::string stored = server.resolve(array["data"]);
    if (array["data"].contains("compression")) {
      EXPECT_EQ(decompress(stored, bytes.size()), bytes) << pointer;
    } else {
      EXPECT_EQ(stored.substr(0, bytes.size()), bytes) << pointer;
    }
  }

 private:
  static std::map<std::string, std::unique_ptr<GoldenServer>>& servers() {
    static std::map<std::string, std::unique_ptr<GoldenServer>> servers;
    return servers;
  }
};

TEST_P(GoldenExchangeTest, AnswersAsTheRuntimeDid) {
  const Json& recorded = GetParam().recorded;
  GoldenServer& golden = server(GetParam().file);
  const Answer answer = golden.send(recorded["request"]);
  if (const auto exception = exceptions().find(recorded["name"]); exception != exceptions().end()) {
    EXPECT_EQ(answer.status, exception->second.status) << exception->second.reason;
    return;
  }
  const Json& wanted = recorded["response"];
  EXPECT_EQ(Json(answer.status), wanted["status"]) << answer.body;
  expect_headers(answer, wanted["headers"]);
  if (recorded["compare"] == "contains") {
    for (const Json& part : wanted["body_contains"]) {
      EXPECT_NE(answer.body.find(part.get<std::string>()), std::string::npos) << part << " in " << answer.body;
    }
  } else if (recorded["compare"] == "json" || recorded.contains("foreign_text")) {
    expect_json(golden, answer.body, recorded);
  } else {
    EXPECT_EQ(answer.body, golden.fill_in(wanted["body"]));
  }
}

std::string test_name(const ::testing::TestParamInfo<Exchange>& parameter) {
  std::string name = parameter.param.file.substr(0, parameter.param.file.find('.'));
  name += "_" + parameter.param.recorded["name"].get<std::string>();
  std::ranges::replace_if(name, [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Vectors, GoldenExchangeTest, ::testing::ValuesIn(all_exchanges()), test_name);

TEST(GoldenRunFolderTest, HoldsTheFilesThatTheRuntimeLeft) {
  const Json file = load("default.json");
  const Json& wanted = file["run_folder"];
  const std::string run = "run_" + wanted["run"].get<std::string>();
  GoldenServer golden(file);
  for (const Json& recorded : file["exchanges"]) {
    if (recorded["request"]["target"] == "/apply?run_id=" + wanted["run"].get<std::string>()) {
      EXPECT_EQ(golden.send(recorded["request"]).status, 200);
    }
  }
  std::vector<std::string> names;
  const std::filesystem::path folder = golden.output().path() / run;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = std::filesystem::relative(entry.path(), folder).string();
    names.push_back(name.ends_with(".bin") ? "<uuid4>.bin" : name);
  }
  std::ranges::sort(names);
  EXPECT_EQ(Json(names), wanted["files"]);
  EXPECT_EQ(Json(golden.output().read(run + "/logs/tesseract.log")), wanted["logs/tesseract.log"]);
  EXPECT_EQ(Json(golden.output().read(run + "/logs/metrics.csv")), wanted["logs/metrics.csv"]);
}

}  // namespace
}  // namespace tessera::testing
