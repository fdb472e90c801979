#include "tessera/base/chunked_decoder.h"

#include <gtest/gtest.h>

#include <string>

namespace tessera {
namespace {

using State = ChunkedDecoder::State;

struct Decoded {
  State state = State::kMore;
  std::string body;
  std::size_t used = 0;
};

// Hands over at most `piece_size` bytes at a time.
Decoded decode(std::string_view bytes, std::size_t piece_size, std::uint64_t limit = 1000) {
  ChunkedDecoder decoder(limit);
  Decoded result;
  while (result.used < bytes.size() && result.state == State::kMore) {
    const ChunkedDecoder::Step step = decoder.next(bytes.substr(result.used, piece_size));
    result.body += step.data;
    result.used += step.used;
    result.state = step.state;
  }
  return result;
}

TEST(ChunkedDecoderTest, DecodesWhateverThePieces) {
  const std::string_view bytes = "3\r\nabc\r\n00A;x=\"y\"\r\n0123456789\r\n0\r\nA: b\r\nC: d\r\n\r\nnext";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Decoded result = decode(bytes, piece);
    EXPECT_EQ(result.state, State::kDone);
    EXPECT_EQ(result.body, "abc0123456789");
    EXPECT_EQ(bytes.substr(result.used), "next");
  }
}

TEST(ChunkedDecoderTest, DecodesAnEmptyBodyWhateverThePieces) {
  for (std::size_t piece = 1; piece <= 5; ++piece) {
    EXPECT_EQ(decode("0\r\n\r\n", piece).state, State::kDone);
  }
}

TEST(ChunkedDecoderTest, RefusesWhatIsNotChunked) {
  for (const std::string_view bytes :
       {"\r\n",        "g\r\n",        "-1\r\n",       " 1\r\n",         "0x1\r\n",        "1\na",
        "1\r\r",       "1;\n",         "1\r\nab\r\n",  "1\r\na\n",       "1\r\na\rb",      "0\r\n\n",
        "0\r\nA: b\n", "0\r\nA: b\rc", "0\r\n\rx",     "1 x\r\n",        "1 1\r\n",        "1,1\r\n",
        "1;a\x7f",     "0\r\nA\r\n",   "0\r\n: b\r\n", "0\r\n A: b\r\n", "0\r\nA : b\r\n", "0\r\nA: \x01\r\n"}) {
    EXPECT_EQ(decode(bytes, bytes.size()).state, State::kBad) << bytes;
  }
}

TEST(ChunkedDecoderTest, TakesExtensionsOfAnyText) {
  for (const std::string_view line : {"1;a", "1;", "1;;", "1 ;a", "1\t", "1 ", "1;a=\"b;c\"", "1;\xc3\xa4", "01"}) {
    EXPECT_EQ(decode(std::string(line) + "\r\nx\r\n0\r\n\r\n", 1).body, "x") << line;
  }
}

TEST(ChunkedDecoderTest, RefusesMoreThanTheLimit) {
  EXPECT_EQ(decode("5\r\nabcde\r\n5\r\nabcde\r\n0\r\n\r\n", 100, 10).state, State::kDone);
  EXPECT_EQ(decode("5\r\nabcde\r\n6\r\nabcdef\r\n", 100, 10).state, State::kTooLarge);
  EXPECT_EQ(decode("ffffffffffffffff\r\n", 100, 10).state, State::kTooLarge);
  EXPECT_EQ(decode("10000000000000000\r\n", 100, 10).state, State::kTooLarge);
}

TEST(ChunkedDecoderTest, RefusesEndlessLines) {
  EXPECT_EQ(decode("1;" + std::string(100'000, 'a'), 1000).state, State::kBad);
  EXPECT_EQ(decode("0\r\nA: " + std::string(100'000, 'a'), 1000).state, State::kBad);
  EXPECT_EQ(decode(std::string(100'000, '0'), 1000).state, State::kBad);
}

}  // namespace
}  // namespace tessera
