#include "tessera/array/json_scanner.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

using FaultKind = JsonFault::Kind;

bool is_json(std::string_view text, JsonScanner::Options options = {}) {
  JsonScanner scanner(text, options);
  scanner.skip_value();
  scanner.expect_end();
  return !scanner.has_fault();
}

// What is wrong with the text; fails the test if nothing is.
JsonFault fault_of(std::string_view text, JsonScanner::Options options = {}) {
  JsonScanner scanner(text, options);
  scanner.skip_value();
  scanner.expect_end();
  EXPECT_TRUE(scanner.has_fault()) << text;
  return scanner.has_fault() ? scanner.fault() : JsonFault{};
}

JsonNumber number_of(std::string_view text) {
  JsonScanner scanner(text);
  EXPECT_EQ(scanner.peek(), JsonKind::kNumber) << text;
  JsonNumber number = scanner.read_number();
  scanner.expect_end();
  EXPECT_FALSE(scanner.has_fault()) << text;
  return number;
}

std::string text_of(std::string_view text) {
  JsonScanner scanner(text);
  EXPECT_EQ(scanner.peek(), JsonKind::kText) << text;
  std::string decoded = scanner.read_text();
  EXPECT_FALSE(scanner.has_fault()) << text;
  return decoded;
}

std::string compact(std::string_view text) {
  std::string out;
  append_compact_json(out, text);
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

struct Broken {
  std::string_view text;
  std::size_t position;
  std::string_view words;
};

// What Python 3.11's json.loads says about these.
class BrokenJsonTest : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenJsonTest, IsRefusedWithPythonsWordsAndPosition) {
  const JsonFault fault = fault_of(GetParam().text);
  EXPECT_EQ(fault.kind, FaultKind::kSyntax) << GetParam().text;
  EXPECT_EQ(fault.text, GetParam().words) << GetParam().text;
  EXPECT_EQ(fault.position, GetParam().position) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Python311, BrokenJsonTest,
    ::testing::Values(
        Broken{"", 0, "Expecting value"}, Broken{"   ", 3, "Expecting value"}, Broken{"nul", 0, "Expecting value"},
        Broken{"[", 1, "Expecting value"}, Broken{"[1,", 3, "Expecting value"}, Broken{"[1,]", 3, "Expecting value"},
        Broken{"[,1]", 1, "Expecting value"}, Broken{"[-]", 1, "Expecting value"}, Broken{"+1", 0, "Expecting value"},
        Broken{".5", 0, "Expecting value"}, Broken{"-Inf", 0, "Expecting value"}, Broken{"\v1", 0, "Expecting value"},
        Broken{"{\"a\":", 5, "Expecting value"}, Broken{"{\"a\":-}", 5, "Expecting value"},
        Broken{"[1 2]", 3, "Expecting ',' delimiter"}, Broken{"[1}", 2, "Expecting ',' delimiter"},
        Broken{"[1.]", 2, "Expecting ',' delimiter"}, Broken{"[1", 2, "Expecting ',' delimiter"},
        Broken{"{\"a\":1 \"b\"}", 7, "Expecting ',' delimiter"}, Broken{"{\"a\":1", 6, "Expecting ',' delimiter"},
        Broken{"{\"a\" 1}", 5, "Expecting ':' delimiter"}, Broken{"{\"a\"", 4, "Expecting ':' delimiter"},
        Broken{"{", 1, "Expecting property name enclosed in double quotes"},
        Broken{"{1:2}", 1, "Expecting property name enclosed in double quotes"},
        Broken{"{\"a\":1,}", 7, "Expecting property name enclosed in double quotes"},
        Broken{"{\"a\":1, ", 8, "Expecting property name enclosed in double quotes"},
        Broken{"\"abc", 0, "Unterminated string starting at"}, Broken{"[\"\\", 1, "Unterminated string starting at"},
        Broken{"\"a\nb\"", 2, "Invalid control character at"}, Broken{"\"\\x\"", 1, "Invalid \\escape"},
        Broken{"\"\\u12\"", 2, "Invalid \\uXXXX escape"}, Broken{"\"\\u1234", 2, "Invalid \\uXXXX escape"},
        Broken{"\"\\ud800\\u12\"", 8, "Invalid \\uXXXX escape"}, Broken{"\"\\u+123\"", 2, "Invalid \\uXXXX escape"},
        Broken{"01", 1, "Extra data"}, Broken{"1e+", 1, "Extra data"}, Broken{"1 2", 2, "Extra data"},
        Broken{"{\"a\":1}}", 7, "Extra data"}));

TEST(JsonScannerTest, CountsPositionsInCharactersBehindTheByteOrderMark) {
  EXPECT_EQ(fault_of("{\"\xC3\xA9\":x}").position, 5U);
  EXPECT_EQ(fault_of("\xEF\xBB\xBF[\"\xF0\x9F\x98\x80\" 1]").position, 5U);
  EXPECT_TRUE(is_json("\xEF\xBB\xBF[1]"));
}

TEST(JsonScannerTest, ReportsBytesThatAreNoTextBeforeBadSyntax) {
  EXPECT_EQ(fault_of("[1,] \xFF").kind, FaultKind::kNotUtf8);
  EXPECT_EQ(fault_of("\"\xFF\"").kind, FaultKind::kNotUtf8);
  EXPECT_EQ(fault_of("[1]\xC3").kind, FaultKind::kNotUtf8);
  EXPECT_EQ(fault_of("\xC3\xA9").kind, FaultKind::kSyntax);
}

TEST(JsonScannerTest, RefusesUtf16AndUtf32) {
  constexpr std::string_view kLittle16("1\0", 2);
  constexpr std::string_view kBig32("\0\0\0001", 4);
  EXPECT_EQ(fault_of(kLittle16).kind, FaultKind::kNotUtf8);
  EXPECT_EQ(fault_of(kBig32).kind, FaultKind::kNotUtf8);
  EXPECT_EQ(fault_of("\xFF\xFE[\0").kind, FaultKind::kNotUtf8);
}

TEST(JsonScannerTest, TakesEncodedSurrogatesAsPythonDoes) {
  EXPECT_TRUE(is_json("\"\xED\xA0\x80\""));
  EXPECT_EQ(fault_of("\"\xED\xA0\"").kind, FaultKind::kNotUtf8);
  EXPECT_EQ(fault_of("\"\xED\xA0\x80\xFF\"").kind, FaultKind::kNotUtf8);
}

TEST(JsonScannerTest, RefusesDeepNesting) {
  EXPECT_TRUE(is_json("[[[1]]]", {3}));
  EXPECT_EQ(fault_of("[[[[1]]]]", {3}).kind, FaultKind::kTooDeep);
  EXPECT_EQ(fault_of(std::string(100000, '[')).kind, FaultKind::kTooDeep);
  EXPECT_TRUE(is_json("[[],[],[],[],[]]", {2}));
}

TEST(JsonScannerTest, EndsLoopsAfterAFault) {
  JsonScanner scanner("[1 2, 3]");
  scanner.enter();
  EXPECT_TRUE(scanner.next_item());
  static_cast<void>(scanner.read_number());
  EXPECT_FALSE(scanner.next_item());
  EXPECT_EQ(scanner.peek(), JsonKind::kInvalid);
  std::string_view key;
  EXPECT_FALSE(scanner.next_member(key));
  EXPECT_TRUE(scanner.read_raw_text().raw.empty());
  EXPECT_TRUE(scanner.skip_value().empty());
  EXPECT_EQ(scanner.fault().position, 3U);
}

TEST(JsonScannerTest, WalksMembersAndItems) {
  JsonScanner scanner(R"( { "a" : [ 1 , true ] , "\u0062" : { } } )");
  std::string_view key;
  ASSERT_EQ(scanner.peek(), JsonKind::kObject);
  scanner.enter();
  ASSERT_TRUE(scanner.next_member(key));
  EXPECT_EQ(key, "a");
  ASSERT_EQ(scanner.peek(), JsonKind::kList);
  scanner.enter();
  ASSERT_TRUE(scanner.next_item());
  EXPECT_EQ(scanner.read_number().integer, 1);
  ASSERT_TRUE(scanner.next_item());
  ASSERT_EQ(scanner.peek(), JsonKind::kTrue);
  scanner.read_literal();
  EXPECT_FALSE(scanner.next_item());
  ASSERT_TRUE(scanner.next_member(key));
  EXPECT_EQ(key, "b");
  EXPECT_EQ(scanner.skip_value(), "{ }");
  EXPECT_FALSE(scanner.next_member(key));
  scanner.expect_end();
  EXPECT_FALSE(scanner.has_fault());
}

TEST(JsonScannerTest, KnowsWhereAValueStands) {
  JsonScanner scanner(R"({"a":  [1, "x"] ,"b":2})");
  std::string_view key;
  scanner.enter();
  ASSERT_TRUE(scanner.next_member(key));
  const std::size_t begin = scanner.offset();
  scanner.skip_value();
  EXPECT_EQ(begin, 7U);
  EXPECT_EQ(scanner.text_since(begin), R"([1, "x"])");
}

TEST(JsonScannerTest, TellsWholeNumbersBySize) {
  using Kind = JsonNumber::Kind;
  EXPECT_EQ(number_of("-9223372036854775808").integer, INT64_MIN);
  EXPECT_EQ(number_of("9223372036854775807").integer, INT64_MAX);
  EXPECT_EQ(number_of("9223372036854775808").kind, Kind::kUInt);
  EXPECT_EQ(number_of("18446744073709551615").unsigned_integer, UINT64_MAX);
  EXPECT_EQ(number_of("18446744073709551616").kind, Kind::kHugeInt);
  EXPECT_EQ(number_of("18446744073709551616").real, 18446744073709551616.0);
  EXPECT_EQ(number_of("-9223372036854775809").kind, Kind::kHugeInt);
  EXPECT_EQ(number_of(std::string(5000, '1')).kind, Kind::kHugeInt);
  EXPECT_TRUE(std::isinf(number_of(std::string(5000, '1')).real));
  EXPECT_FALSE(std::signbit(number_of("-0").real));
}

TEST(JsonScannerTest, ReadsDoublesExactly) {
  for (const char* const text :
       {"0.1", "-0.0", "1.7976931348623157e308", "5e-324", "123456789012345678.0", "9007199254740993.0", "1e22", "1e23",
        "0.30000000000000004", "-1.5E+10", "2.2250738585072011e-308", "12345678901234567890.123456789e-5"}) {
    const JsonNumber number = number_of(text);
    EXPECT_EQ(number.kind, JsonNumber::Kind::kDouble) << text;
    EXPECT_EQ(number.real, std::strtod(text, nullptr)) << text;
  }
  EXPECT_TRUE(std::signbit(number_of("-0.0").real));
}

TEST(JsonScannerTest, TakesWhatIsNotFinite) {
  EXPECT_TRUE(std::isnan(number_of("NaN").real));
  EXPECT_EQ(number_of("Infinity").real, HUGE_VAL);
  EXPECT_EQ(number_of("-Infinity").real, -HUGE_VAL);
  EXPECT_EQ(number_of("-1e400").real, -HUGE_VAL);
  EXPECT_EQ(number_of("0.000001e315").real, HUGE_VAL);
  EXPECT_EQ(number_of("1e-400").real, 0.0);
  EXPECT_EQ(number_of("1e99999999999999999999").real, HUGE_VAL);
  EXPECT_EQ(number_of("1e-99999999999999999999").real, 0.0);
  EXPECT_EQ(number_of("0e99999999999999999999").real, 0.0);
}

TEST(JsonScannerTest, DecodesEscapes) {
  EXPECT_EQ(text_of(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(text_of(R"("caf\u00e9 \uD83D\uDE00")"), "caf\xC3\xA9 \xF0\x9F\x98\x80");
  EXPECT_EQ(text_of(R"("\ud83dx")"), "\xED\xA0\xBDx");
  EXPECT_EQ(text_of(R"("\udc00\ud800\u0041")"), "\xED\xB0\x80\xED\xA0\x80\x41");
}

TEST(JsonScannerTest, FindsTheEndOfTextsOfEveryLength) {
  for (std::size_t length = 0; length != 400; ++length) {
    const std::string text = "\"" + std::string(length, 'x') + "\",";
    JsonScanner scanner(text);
    EXPECT_EQ(scanner.read_raw_text().raw.size(), length);
  }
}

TEST(JsonScannerTest, FindsWhatStandsInLongTexts) {
  for (std::size_t at = 0; at != 400; ++at) {
    std::string text = "\"" + std::string(400, 'x') + "\"";
    text[at + 1] = '\x1f';
    EXPECT_EQ(fault_of(text).position, at + 1);
    text[at + 1] = '\x80';
    EXPECT_EQ(fault_of(text).kind, FaultKind::kNotUtf8);
    text[at + 1] = '\x7f';
    EXPECT_TRUE(is_json(text));
  }
}

TEST(JsonScannerTest, FindsTheEndBehindOtherCharacters) {
  const std::string text = "\"\xC3\xA9" + std::string(300, 'x') + "\\n" + std::string(300, 'y') + "\" ";
  JsonScanner scanner(text);
  const JsonText raw = scanner.read_raw_text();
  EXPECT_EQ(raw.raw.size(), text.size() - 3);
  EXPECT_TRUE(raw.has_escapes);
  EXPECT_FALSE(raw.is_ascii);
}

TEST(JsonScannerTest, OffersATextOfAKnownLength) {
  JsonScanner scanner(R"(["AAAA",1])");
  scanner.enter();
  ASSERT_TRUE(scanner.next_item());
  ASSERT_EQ(scanner.peek(), JsonKind::kText);
  EXPECT_FALSE(scanner.find_text_of_length(3).has_value());
  EXPECT_FALSE(scanner.find_text_of_length(9).has_value());
  EXPECT_FALSE(scanner.find_text_of_length(SIZE_MAX).has_value());
  EXPECT_EQ(scanner.find_text_of_length(4), "AAAA");
  scanner.accept_text_of_length(4);
  ASSERT_TRUE(scanner.next_item());
  EXPECT_EQ(scanner.read_number().integer, 1);
}

TEST(JsonTextTest, EscapesAsTheRuntimeDoes) {
  EXPECT_EQ(escaped("a\"b\\c/\b\t\n\f\r\x01\x1f\x7f\xC3\xA9"),
            "\"a\\\"b\\\\c/\\b\\t\\n\\f\\r\\u0001\\u001f\x7f\xC3\xA9\"");
}

TEST(JsonTextTest, EscapesLoneSurrogates) {
  EXPECT_EQ(escaped("x\xED\xA0\xBDy\xED\x9F\xBF"), "\"x\\ud83dy\xED\x9F\xBF\"");
  EXPECT_EQ(escaped("\xFF x\xC3\xA9\xF0\x9F\x98y\xED\xA0\xBD\x80"), "\"\uFFFD x\xC3\xA9\uFFFDy\\ud83d\uFFFD\"");
}

TEST(JsonTextTest, CompactsWithoutWhatOthersCannotRead) {
  EXPECT_EQ(compact(" { \"a\" : [ 1 , NaN , -Infinity, 1e400, 2.50 ] , \"b\":{ },\"c\":[ ],\"d\":[null , true] } "),
            R"({"a":[1,null,null,null,2.50],"b":{},"c":[],"d":[null,true]})");
  EXPECT_EQ(compact("\"\\ud800 \xED\xA0\x80 \xC3\xA9\""), "\"\\ud800 \\ud800 \xC3\xA9\"");
}

}  // namespace
}  // namespace tessera
