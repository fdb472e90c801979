#include "tessera/array/body.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tessera/array/base64.h"

namespace tessera {
namespace {

Buffer buffer_of(std::size_t size) {
  Buffer buffer = Buffer::allocate(size);
  for (std::size_t i = 0; i != size; ++i) {
    buffer.data()[i] = static_cast<std::byte>(i * 7);
  }
  return buffer;
}

std::string base64_of(const Buffer& buffer) {
  std::string text(base64_length(buffer.size_bytes()), ' ');
  base64_encode(buffer.bytes(), text.data());
  return text;
}

std::vector<std::string> pieces_of(const Body& body, std::size_t scratch_size) {
  std::vector<std::byte> scratch(scratch_size);
  std::vector<std::string> pieces;
  Body::Cursor cursor(body);
  for (auto piece = cursor.next(scratch); !piece.empty(); piece = cursor.next(scratch)) {
    pieces.emplace_back(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  return pieces;
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string all;
  for (const std::string& piece : pieces) {
    all += piece;
  }
  return all;
}

TEST(BodyTest, HasNoPiecesIfItIsEmpty) {
  EXPECT_EQ(Body().size_bytes(), 0U);
  EXPECT_TRUE(pieces_of(Body(), 4096).empty());
  EXPECT_TRUE(pieces_of(Body(""), 4096).empty());
}

TEST(BodyTest, GathersSmallSegmentsIntoOnePiece) {
  Body body("{\"a\":");
  const Buffer buffer = buffer_of(100);
  body.append_base64(buffer, 100);
  body.append("}");
  const std::vector<std::string> pieces = pieces_of(body, 4096);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0], "{\"a\":" + base64_of(buffer) + "}");
  EXPECT_EQ(body.size_bytes(), pieces[0].size());
}

TEST(BodyTest, GivesTheSameBytesForEverySizeOfScratch) {
  Body body;
  body.append("head");
  const Buffer small = buffer_of(1000);
  const Buffer large = buffer_of(50000);
  body.append_base64(small, 1000);
  body.append(std::string(5000, 'x'));
  body.append_base64(large, 50000);
  body.append_base64(large, 1);
  body.append("tail");
  const std::string expected =
      "head" + base64_of(small) + std::string(5000, 'x') + base64_of(large) + base64_of(large.first(1)) + "tail";
  EXPECT_EQ(body.size_bytes(), expected.size());
  for (const std::size_t size : {std::size_t{4096}, std::size_t{4099}, std::size_t{10001}, std::size_t{262144}}) {
    const std::vector<std::string> pieces = pieces_of(body, size);
    EXPECT_EQ(joined(pieces), expected) << size;
    EXPECT_TRUE(std::ranges::all_of(pieces, [size](const auto& piece) { return piece.size() <= size; }));
  }
  EXPECT_EQ(body.to_string(), expected);
}

TEST(BodyTest, HandsOutLargeTextWithoutCopying) {
  const Body body(std::string(10000, 'x'));
  std::vector<std::byte> scratch(4096, std::byte{'?'});
  Body::Cursor cursor(body);
  EXPECT_EQ(cursor.next(scratch).size(), 4096U);
  EXPECT_EQ(scratch[0], std::byte{'?'});
}

TEST(BodyTest, LetsTextBeWrittenInPlace) {
  Body body;
  std::string expected;
  for (int i = 0; i != 3000; ++i) {
    const std::string number = std::to_string(i);
    char* const room = body.prepare(32);
    std::ranges::copy(number, room);
    body.grow(number.size());
    expected += number;
  }
  static_cast<void>(body.prepare(1000000));
  body.grow(0);
  EXPECT_EQ(body.to_string(), expected);
}

TEST(BodyTest, KeepsWhatItSendsAlive) {
  Body body;
  {
    const Buffer buffer = buffer_of(3);
    body.append_base64(buffer, 3);
  }
  EXPECT_EQ(body.to_string(), "AAcO");
}

}  // namespace
}  // namespace tessera
