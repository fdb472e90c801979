#include "tessera/base/utf8.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace tessera {
namespace {

// What a strict decoder says, by the definition: decode, encode again, compare.
bool is_utf8_by_definition(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto first = static_cast<unsigned char>(bytes.front());
    const std::size_t length = first < 0x80U ? 1 : first < 0xE0U ? 2 : first < 0xF0U ? 3 : 4;
    if (bytes.size() < length) {
      return false;
    }
    char32_t code = length == 1 ? first : first & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
      code = (code << 6U) | (static_cast<unsigned char>(bytes[i]) & 0x3FU);
    }
    std::string again;
    append_utf8(again, code);
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF) || again != bytes.substr(0, length)) {
      return false;
    }
    bytes.remove_prefix(length);
  }
  return true;
}

TEST(Utf8Test, TakesEveryCharacter) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    std::string text;
    append_utf8(text, code);
    ASSERT_EQ(is_utf8(text), !is_surrogate) << static_cast<std::uint32_t>(code);
    ASSERT_EQ(count_characters(text), 1U) << static_cast<std::uint32_t>(code);
  }
}

TEST(Utf8Test, AgreesWithDefinitionOnAllPairsOfBytes) {
  for (unsigned pair = 0; pair < 0x10000U; ++pair) {
    const std::string bytes{static_cast<char>(pair >> 8U), static_cast<char>(pair & 0xFFU)};
    ASSERT_EQ(is_utf8(bytes), is_utf8_by_definition(bytes)) << pair;
  }
}

TEST(Utf8Test, AgreesWithDefinitionOnLongCharacters) {
  for (unsigned first = 0xE0U; first <= 0xFFU; ++first) {
    for (unsigned second = 0x70U; second <= 0xCFU; ++second) {
      for (const char* const rest : {"", "\x80", "\xBF", "\xC0", "\x80\x80", "\xBF\xBF", "\x80z", "\x7F\x80"}) {
        const std::string bytes = std::string{static_cast<char>(first), static_cast<char>(second)} + rest;
        ASSERT_EQ(is_utf8(bytes), is_utf8_by_definition(bytes)) << first << ' ' << second << ' ' << rest;
      }
    }
  }
}

TEST(Utf8Test, FindsBadByteAnywhereInLongText) {
  for (std::size_t place = 0; place < 100; ++place) {
    std::string text(100, 'a');
    EXPECT_TRUE(is_utf8(text));
    text[place] = '\x80';
    EXPECT_FALSE(is_utf8(text)) << place;
  }
}

TEST(Utf8Test, RefusesTextCutInCharacter) {
  const std::string text = std::string(40, 'a') + "\xF0\x9F\x98\x80";
  EXPECT_TRUE(is_utf8(text));
  for (std::size_t cut = 1; cut < 4; ++cut) {
    EXPECT_FALSE(is_utf8(std::string_view(text).substr(0, text.size() - cut))) << cut;
  }
}

TEST(Utf8Test, CountsCharacters) {
  EXPECT_EQ(count_characters(""), 0U);
  EXPECT_EQ(count_characters("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z"), 5U);
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "\xE2\x82\xAC";
  }
  EXPECT_EQ(count_characters(text), 1000U);
}

TEST(Utf8Test, AppendsHalfSurrogatePair) {
  std::string text;
  append_utf8(text, 0xD800);
  EXPECT_EQ(text, "\xED\xA0\x80");
}

TEST(Utf8Test, ReplacesAsPythonDoes) {
  EXPECT_EQ(replaced_utf8("plain \u00e4\u20ac\U0001F600"), "plain \u00e4\u20ac\U0001F600");
  EXPECT_EQ(replaced_utf8("a\xff"
                          "b"),
            "a\uFFFDb");
  EXPECT_EQ(replaced_utf8("\xc3("), "\uFFFD(");
  EXPECT_EQ(replaced_utf8("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(replaced_utf8("\xf0\x9f\x98"
                          "b"),
            "\uFFFDb");
  EXPECT_EQ(replaced_utf8("\xe2\x82"), "\uFFFD");
  EXPECT_EQ(replaced_utf8("\xe0\x80\xf5\xc0\xaf"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(replaced_utf8(""), "");
}

TEST(Utf8Test, CutsBetweenCharacters) {
  const std::string_view text = "a\u00e4\u20ac\U0001F600";  // of 1, 2, 3 and 4 bytes
  const std::array<std::size_t, 12> lengths = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (std::size_t limit_bytes = 0; limit_bytes != lengths.size(); ++limit_bytes) {
    EXPECT_EQ(cut_utf8(text, limit_bytes), text.substr(0, lengths.at(limit_bytes))) << limit_bytes;
  }
  EXPECT_EQ(cut_utf8("\x80\x80\x80\x80\x80\x80", 5), "\x80\x80");  // not UTF-8: a few bytes less, no more
}

TEST(Utf8Test, QuotesLongTextsByTheirBeginning) {
  EXPECT_EQ(brief("name"), "name");
  EXPECT_EQ(brief(std::string(300, 'x')), std::string(300, 'x'));
  EXPECT_EQ(brief(std::string(301, 'x')), std::string(300, 'x') + "…");
  EXPECT_EQ(brief("aäb", 2), "a…");
}

TEST(Utf8Test, ReplacesWhateverIsNotUtf8) {
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned second = 0; second < 256; ++second) {
      const std::string pair{static_cast<char>(first), static_cast<char>(second)};
      EXPECT_TRUE(is_utf8(replaced_utf8(pair)));
      EXPECT_TRUE(is_utf8(replaced_utf8("\xf0" + pair + "\x80x")));
    }
  }
}

}  // namespace
}  // namespace tessera
