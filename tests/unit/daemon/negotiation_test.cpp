#include "negotiation.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tessera/base/file.h"

namespace tessera {
namespace {

using Json = nlohmann::json;

Json accept_cases() {
  const auto path = std::filesystem::path(TESSERA_TESTS_DIR) / "vectors" / "grammar.json";
  return Json::parse(*read_file(path, 1 << 24))["accept"];
}

EncodingOffer offer_of(const Json& config) {
  EncodingOffer offer;
  offer.default_format = find_output_format(config.value("output_format", "json")).value_or(OutputFormat::kJson);
  offer.default_compression = find_compression(config.value("compression", "none")).value_or(Compression::kNone);
  if (config.contains("gpu_transport")) {
    offer.gpu_transports.push_back(config["gpu_transport"]);
  }
  return offer;
}

std::string latin1(const std::string& utf8) {
  std::string bytes;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto first = static_cast<unsigned char>(utf8[i]);
    const bool is_pair = first >= 0xc0 && i + 1 < utf8.size();
    bytes += is_pair ? static_cast<char>(((first & 0x03U) << 6U) | (static_cast<unsigned char>(utf8[++i]) & 0x3fU))
                     : utf8[i];
  }
  return bytes;
}

TEST(GoldenNegotiationTest, AnswersEveryRecordedHeaderAsTheRuntimeDoes) {
  const Json cases = accept_cases();
  EXPECT_EQ(cases.size(), 153U);
  for (const Json& recorded : cases) {
    const EncodingOffer offer = offer_of(recorded["config"]);
    std::optional<std::string> accept;
    if (!recorded["accept"].is_null()) {
      accept = latin1(recorded["accept"]);
    }
    const std::optional<Encoding> encoding = negotiate(accept, offer);
    ASSERT_EQ(encoding.has_value(), recorded.contains("result")) << recorded;
    if (!encoding) {
      EXPECT_EQ(Json::parse(not_acceptable_body(accept.value_or(""), offer)), recorded["body"]) << recorded;
      continue;
    }
    const Json& wanted = recorded["result"];
    EXPECT_EQ(Json(name_of(encoding->format)), wanted["output_format"]) << recorded;
    EXPECT_EQ(Json(encoding->gpu_transport), wanted["gpu_transport"]) << recorded;
    EXPECT_EQ(Json(name_of(encoding->compression)),
              wanted["compression"].is_null() ? Json("none") : wanted["compression"])
        << recorded;
  }
}

double quality_of(const std::string& text) {
  return parse_accept("json;q=" + text).at(0).quality;
}

TEST(NegotiationTest, ReadsQualitiesAsPythonReadsFloats) {
  EXPECT_EQ(quality_of("1e3"), 1000.0);
  EXPECT_EQ(quality_of(" +.5 "), 0.5);
  EXPECT_EQ(quality_of("1_0"), 10.0);
  EXPECT_EQ(quality_of("1e999"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(quality_of("-Infinity"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(quality_of("1e-999"), 0.0);
  for (const char* refused : {"", "x", "_1", "1_", "1__0", "0x1", "--1", "1 2"}) {
    EXPECT_EQ(quality_of(refused), 0.0) << refused;
  }
}

TEST(NegotiationTest, KeepsTheOrderOfEqualQualities) {
  const std::vector<MediaRange> ranges = parse_accept("a;q=0.5, b, c;q=0.5, d");
  ASSERT_EQ(ranges.size(), 4U);
  EXPECT_EQ(ranges[0].media_type + ranges[1].media_type + ranges[2].media_type + ranges[3].media_type, "bdac");
}

std::string order_of(const std::string& accept) {
  std::string order;
  for (const MediaRange& range : parse_accept(accept)) {
    order += range.media_type;
  }
  return order;
}

// Asked of `sorted(…, reverse=True)` of Python 3.11.
TEST(NegotiationTest, PutsNanWherePythonsSortLeavesIt) {
  EXPECT_EQ(order_of("a;q=nan, b;q=0.5"), "ab");
  EXPECT_EQ(order_of("a;q=0.5, b;q=nan"), "ab");
  EXPECT_EQ(order_of("a;q=0.2, b;q=nan, c;q=0.5"), "abc");
  EXPECT_EQ(order_of("a;q=0.5, b;q=0.2, c;q=nan, d"), "abcd");
  EXPECT_EQ(order_of("a;q=nan, b;q=0.2, c;q=0.5"), "acb");
  EXPECT_EQ(order_of("a;q=0.2, b;q=0.5, c;q=nan"), "bac");
  EXPECT_EQ(order_of("a;q=0.9, b;q=nan, c;q=0.1, d"), "bdac");
  EXPECT_EQ(order_of("a;q=-nan"), "a");
  std::string many = "z;q=nan";
  for (int i = 0; i < 63; ++i) {
    many += ",a;q=0.1";
  }
  EXPECT_EQ(order_of(many).back(), 'z');
}

TEST(NegotiationTest, ShowsHeaderBytesAsLatin1) {
  const Json body = Json::parse(not_acceptable_body("application/\xe9\xff", EncodingOffer{}));
  EXPECT_EQ(body["detail"]["message"], "Cannot produce any encoding accepted by 'application/\u00e9\u00ff'");
}

TEST(NegotiationTest, PrefersHtmlForBrowsersOnly) {
  EXPECT_TRUE(prefers_html("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
  EXPECT_FALSE(prefers_html(std::nullopt));
  EXPECT_FALSE(prefers_html("*/*"));
  EXPECT_FALSE(prefers_html("application/json, text/html;q=0.9"));
  EXPECT_FALSE(prefers_html("text/html;q=0"));
}

}  // namespace
}  // namespace tessera
