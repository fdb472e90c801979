#include "tessera/array/base64.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tessera {
namespace {

using Bytes = std::vector<std::byte>;

Bytes copied(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Bytes random_bytes(std::size_t size, std::mt19937_64& random) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random() & 0xffU);
  }
  return bytes;
}

// Exactly as large as needed, so that a sanitizer sees every byte too far.
std::string encode(const Bytes& bytes, void (*encoder)(std::span<const std::byte>, char*) = base64_encode) {
  const std::size_t size = base64_length(bytes.size());
  const auto text = std::make_unique<char[]>(size);
  encoder(bytes, text.get());
  return {text.get(), size};
}

std::optional<Bytes> decode(std::string_view text,
                            bool (*decoder)(std::string_view, std::span<std::byte>) = base64_decode) {
  const auto exact = std::make_unique<char[]>(text.size());
  std::ranges::copy(text, exact.get());
  const std::string_view view(exact.get(), text.size());
  const auto size = base64_decoded_size(view);
  if (!size) {
    return std::nullopt;
  }
  Bytes bytes(*size);
  bytes.shrink_to_fit();
  if (!decoder(view, bytes)) {
    return std::nullopt;
  }
  return bytes;
}

TEST(Base64Test, KnowsTheExamplesOfTheStandard) {
  const std::vector<std::pair<std::string, std::string>> examples{
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [plain, text] : examples) {
    EXPECT_EQ(encode(copied(plain)), text);
    EXPECT_EQ(encode(copied(plain), base64_encode_scalar), text);
    EXPECT_EQ(decode(text), copied(plain));
    EXPECT_EQ(decode(text, base64_decode_scalar), copied(plain));
  }
}

TEST(Base64Test, WritesTheWholeAlphabetInOrder) {
  Bytes bytes;
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (unsigned i = 0; i < 64; i += 4) {
    const unsigned bits = (i << 18U) | ((i + 1) << 12U) | ((i + 2) << 6U) | (i + 3);
    for (const unsigned shift : {16U, 8U, 0U}) {
      bytes.push_back(static_cast<std::byte>((bits >> shift) & 0xffU));
    }
  }
  EXPECT_EQ(encode(bytes), alphabet);
  EXPECT_EQ(encode(bytes, base64_encode_scalar), alphabet);
  EXPECT_EQ(decode(alphabet), bytes);
}

TEST(Base64Test, ReadsBackEveryLength) {
  std::mt19937_64 random(1);
  for (std::size_t size = 0; size <= 600; ++size) {
    const Bytes bytes = random_bytes(size, random);
    const std::string text = encode(bytes);
    ASSERT_EQ(text, encode(bytes, base64_encode_scalar)) << size;
    ASSERT_EQ(decode(text), bytes) << size;
    ASSERT_EQ(decode(text, base64_decode_scalar), bytes) << size;
  }
}

TEST(Base64Test, RefusesEveryOtherByteAtEveryPlace) {
  const std::string alphabet = encode([] {
    std::mt19937_64 random(2);
    return random_bytes(96, random);
  }());
  for (std::size_t place = 0; place < alphabet.size(); ++place) {
    for (int code = 0; code < 256; ++code) {
      std::string text = alphabet;
      text[place] = static_cast<char>(code);
      const bool is_padding_at_end = code == '=' && place + 1 == text.size();
      const bool is_in_alphabet = std::isalnum(code) != 0 || code == '+' || code == '/';
      const auto decoded = decode(text);
      ASSERT_EQ(decoded, decode(text, base64_decode_scalar)) << code << " at " << place;
      if (!is_padding_at_end) {
        ASSERT_EQ(decoded.has_value(), is_in_alphabet) << code << " at " << place;
      }
    }
  }
}

TEST(Base64Test, RefusesWrongLengthsAndPadding) {
  for (const char* text : {"A", "AA", "AAA", "AAAAA", "====", "A===", "=AAA", "AA=A", "A=A=", "AA==AAAA", "AAA=AAAA",
                           "AAAA====", "AAAA=", "AAAAAAAAAAA", "AAAAAAAAAAA=="}) {
    EXPECT_EQ(decode(text), std::nullopt) << text;
  }
}

TEST(Base64Test, RefusesBitsThatAreLeftOver) {
  EXPECT_NE(decode("AQ=="), std::nullopt);
  EXPECT_EQ(decode("AR=="), std::nullopt);
  EXPECT_NE(decode("AAE="), std::nullopt);
  EXPECT_EQ(decode("AAF="), std::nullopt);
}

TEST(Base64Test, RefusesOtherAlphabetsAndWhiteSpace) {
  for (const char* text : {"____", "----", "AA\nA", "AAAA\n", " AAA", "AAA\0"}) {
    EXPECT_EQ(decode(text), std::nullopt) << text;
  }
}

TEST(Base64Test, AgreesWithTheScalarCodecOnRandomTexts) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20000; ++round) {
    const Bytes bytes = random_bytes(random() % 200, random);
    std::string text = encode(bytes);
    ASSERT_EQ(text, encode(bytes, base64_encode_scalar));
    if (!text.empty() && round % 2 == 0) {
      text[random() % text.size()] = static_cast<char>(random() & 0xffU);
    }
    ASSERT_EQ(decode(text), decode(text, base64_decode_scalar)) << text;
  }
}

}  // namespace
}  // namespace tessera
