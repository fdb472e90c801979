// Requests of the golden exchanges to the mixer: what a refused body is told, and what /test answers.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "golden_file.h"
#include "requests.h"
#include "tessera/tesseract/module.h"
#include "tessera/tesseract/test_spec.h"

namespace tessera {
namespace {

using nlohmann::json;

std::shared_ptr<const TesseractDefinition> mixer() {
  auto loaded = load_module(TESSERA_TEST_MIXER);
  if (!loaded) {
    throw std::runtime_error(loaded.error().message());
  }
  return *loaded;
}

/// Takes what the pointers lead to out of a document: texts that quote other libraries.
json without(json document, const json& exchange) {
  for (const json& pointer : exchange.value("foreign_text", json::array())) {
    document[json::json_pointer(pointer.get<std::string>())] = nullptr;
  }
  return document;
}

/// Whether a request has a JSON body that needs no files.
bool is_plain(const json& exchange) {
  const json headers = exchange.at("request").at("headers");
  const bool is_json = headers.dump().find("\"application/json\"") != std::string::npos;
  return is_json && exchange.at("request").contains("body") &&
         !exchange.at("name").get<std::string>().starts_with("binref");
}

TEST(GoldenRequestsTest, RefusedBodiesGetTheItemsOfUpstream) {
  const auto definition = mixer();
  std::size_t count = 0;
  const json golden = testing::golden("http/default.json");
  for (const json& exchange : golden.at("exchanges")) {
    const auto endpoint = find_endpoint(exchange.at("request").at("target").get<std::string>().substr(1));
    if (exchange.at("response").at("status") != 422 || !endpoint || !is_plain(exchange)) {
      continue;
    }
    ++count;
    SCOPED_TRACE(exchange.at("name"));
    const json items = testing::items_of(*definition, *endpoint, exchange.at("request").at("body").get<std::string>());
    const json wanted = json::parse(exchange.at("response").at("body").get<std::string>());
    EXPECT_EQ(without({{"detail", items}}, exchange), without(wanted, exchange));
  }
  EXPECT_GE(count, 50U);
}

TEST(GoldenRequestsTest, AcceptedBodiesMakeCalls) {
  const auto definition = mixer();
  std::size_t count = 0;
  const json golden = testing::golden("http/default.json");
  for (const json& exchange : golden.at("exchanges")) {
    const auto endpoint = find_endpoint(exchange.at("request").at("target").get<std::string>().substr(1));
    if (exchange.at("response").at("status") != 200 || !endpoint || !is_plain(exchange)) {
      continue;
    }
    ++count;
    SCOPED_TRACE(exchange.at("name"));
    const Call call = testing::call_of(*definition, *endpoint, exchange.at("request").at("body").get<std::string>());
    SilentContext context;
    const auto result = run_call(*definition, call, context, true);
    ASSERT_TRUE(std::holds_alternative<Object>(result)) << std::get<EndpointFailure>(result).text;
    std::vector<std::string> keys;
    for (const Object::Member& member : std::get<Object>(result).members()) {
      keys.push_back(member.key);
    }
    std::vector<std::string> wanted;
    const auto answer = nlohmann::ordered_json::parse(exchange.at("response").at("body").get<std::string>());
    for (const auto& member : answer.items()) {
      wanted.push_back(member.key());
    }
    EXPECT_EQ(keys, wanted);
  }
  EXPECT_GE(count, 20U);
}

TEST(GoldenRequestsTest, TestsComeToWhatTheyCameToUpstream) {
  const auto definition = mixer();
  const ArrayReader arrays(nullptr, {});
  std::size_t count = 0;
  const json golden = testing::golden("http/debug.json");
  for (const json& exchange : golden.at("exchanges")) {
    if (exchange.at("request").at("target") != "/test") {
      continue;
    }
    ++count;
    SCOPED_TRACE(exchange.at("name"));
    SilentContext context;
    const auto body = exchange.at("request").at("body").get<std::string>();
    const auto spec = read_test_spec(body, arrays);
    const json wanted = json::parse(exchange.at("response").at("body").get<std::string>());
    json given;
    if (const auto* read = std::get_if<TestSpec>(&spec)) {
      const auto answer = run_test(*definition, *read, arrays, context);
      const auto* outcome = std::get_if<TestOutcome>(&answer);
      given = outcome == nullptr ? json() : json::parse(outcome->to_json());
    } else if (const auto* problems = std::get_if<std::vector<Problem>>(&spec)) {
      given = json::parse(problems_to_json(*problems));
    }
    EXPECT_EQ(without(given, exchange), without(wanted, exchange)) << given;
  }
  EXPECT_GE(count, 15U);
}

}  // namespace
}  // namespace tessera
