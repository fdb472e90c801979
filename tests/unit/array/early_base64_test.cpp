#include "tessera/array/early_base64.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "tessera/array/array_reader.h"
#include "tessera/array/base64.h"
#include "tessera/array/json_scanner.h"

namespace tessera {
namespace {

constexpr std::size_t kElements = 40'001;
constexpr std::size_t kBytes = kElements * 4;

std::string base64_of(std::size_t size_bytes, int first) {
  std::string bytes(size_bytes, '\0');
  for (std::size_t i = 0; i != size_bytes; ++i) {
    bytes[i] = static_cast<char>(first + static_cast<int>(i % 251));
  }
  std::string text(base64_length(size_bytes), '\0');
  base64_encode(std::as_bytes(std::span(bytes)), text.data());
  return text;
}

std::string array_text(std::string_view shape, std::string_view buffer, std::string_view more = "") {
  std::string text = R"({"object_type":"array","shape":)";
  text.append(shape).append(R"(,"dtype":"float32","data":{"buffer":")").append(buffer);
  return text.append(R"(","encoding":"base64")").append(more).append("}}");
}

// Lets a text arrive in pieces of so many characters, each time in other memory.
EarlyBase64 follow(std::string_view text, std::size_t piece) {
  EarlyBase64 early(text.size());
  for (std::size_t there = 0; there < text.size();) {
    there = std::min(there + piece, text.size());
    early.advance(std::string(text.substr(0, there)));
  }
  return early;
}

std::size_t place_of(std::string_view text, std::string_view buffer) {
  return text.find(buffer);
}

void expect_bytes(const std::optional<Buffer>& bytes, std::string_view buffer) {
  ASSERT_TRUE(bytes.has_value());
  std::string again(base64_length(bytes->size_bytes()), '\0');
  base64_encode(bytes->bytes(), again.data());
  EXPECT_TRUE(again == buffer);
}

TEST(EarlyBase64Test, DecodesTheBuffersOfArraysWhateverThePieces) {
  const std::string first = base64_of(kBytes, 1);
  const std::string second = base64_of(kBytes, 2);
  const std::string text = R"({"inputs":{"name":"a \"b\" \\","a":)" + array_text("[40001]", first) + R"(,"b" : )" +
                           array_text("[ 1, 40001 ]", second) + "}}";
  for (const std::size_t piece : {std::size_t{1000}, std::size_t{4097}, std::size_t{65'537}, std::size_t{200'000}}) {
    EarlyBase64 early = follow(text, piece);
    expect_bytes(early.take(place_of(text, first), first.size()), first);
    EXPECT_FALSE(early.take(place_of(text, first), first.size()).has_value());
    EXPECT_FALSE(early.take(place_of(text, second) + 4, second.size()).has_value());
    EXPECT_FALSE(early.take(place_of(text, second), second.size() - 4).has_value());
    expect_bytes(early.take(place_of(text, second), second.size()), second);
  }
}

TEST(EarlyBase64Test, FollowsEveryCharacterByItself) {
  // Two bytes more than a whole number of groups, so that there is padding.
  const std::string buffer = base64_of(65'540, 3);
  const std::string text = array_text("[16385]", buffer);
  EarlyBase64 early(text.size());
  for (std::size_t there = 1; there <= text.size(); ++there) {
    early.advance(std::string_view(text).substr(0, there));
  }
  expect_bytes(early.take(place_of(text, buffer), buffer.size()), buffer);
}

TEST(EarlyBase64Test, LeavesAloneWhatIsNoSuchBuffer) {
  const std::string buffer = base64_of(kBytes, 4);
  std::string faulty = buffer;
  faulty[100'000] = '-';
  std::string padded_early = buffer;
  padded_early.replace(65'536 - 4, 4, "AAA=");
  std::string escaped = buffer;
  escaped.replace(100'000, 2, R"(\/)");
  const std::string texts[] = {
      array_text("[40001]", faulty),
      array_text("[40001]", padded_early),
      array_text("[40001]", escaped),
      array_text("[40000]", buffer),                // another size
      array_text("[40002]", buffer),                //
      array_text("[-1]", buffer),                   // no size
      array_text("[9000000000000000000]", buffer),  // more than there can be
      array_text("[1e3]", buffer),
      array_text("40001", buffer),
      array_text("[40001", buffer),
      R"({"dtype":"float33","shape":[40001],"data":{"buffer":")" + buffer + R"("}})",
      R"({"shape":[40001],"data":{"buffer":")" + buffer + R"(","encoding":"base64"},"dtype":"float32"})",
      buffer,
      "\"" + buffer + "\"",
      "\"" + buffer,
      R"("dtype":"float32","shape":[40001]")" + buffer.substr(0, 120'000),
  };
  for (const std::string& text : texts) {
    EarlyBase64 early = follow(text, 65'536);
    for (std::size_t i = 0; i != text.size(); ++i) {
      ASSERT_FALSE(early.take(i, buffer.size()).has_value()) << text.substr(0, 100);
    }
  }
}

// What is read of a text that was followed is what is read of it without.
TEST(EarlyBase64Test, ChangesNoResultOfReading) {
  const std::string buffer = base64_of(kBytes, 5);
  std::string faulty = buffer;
  faulty[100'000] = '-';
  const std::string texts[] = {
      array_text("[40001]", buffer),
      "\xEF\xBB\xBF" + array_text("[40001]", buffer),
      array_text("[40001]", faulty),
      array_text("[40001]", buffer, R"(,"compression":"lz4")"),
      array_text("[40000]", buffer),
      R"({"shape":[3],"object_type":"array","shape":[40001],"dtype":"float32","data":{"buffer":")" + buffer +
          R"(","encoding":"base64"},"shape":[2]})",
      R"({"shape":[40001],"dtype":"float32","data":{"buffer":")" + buffer + R"(","buffer":")" + buffer +
          R"(","encoding":"base64"}})",
      R"({"shape":[40001],"dtype":"float32","data":{"buffer":")" + buffer + R"(","encoding":"binref"}})",
      array_text("[40001]", buffer).substr(0, 200'000),
  };
  for (const std::string& text : texts) {
    const ArrayReader reader(nullptr, {});
    EarlyBase64 early = follow(text, 50'000);
    JsonScanner plain(text);
    JsonScanner followed(text, {.early = &early});
    const auto expected = reader.read(plain, ArraySpec());
    const auto actual = reader.read(followed, ArraySpec());
    ASSERT_EQ(actual.index(), expected.index()) << text.substr(0, 100);
    EXPECT_EQ(followed.has_fault(), plain.has_fault());
    EXPECT_EQ(followed.offset(), plain.offset());
    if (const auto* const array = std::get_if<Array>(&expected)) {
      EXPECT_EQ(std::get<Array>(actual).shape(), array->shape());
      EXPECT_TRUE(std::ranges::equal(std::get<Array>(actual).bytes(), array->bytes()));
    } else {
      EXPECT_EQ(std::get<ArrayFault>(actual).reason, std::get<ArrayFault>(expected).reason);
    }
  }
}

}  // namespace
}  // namespace tessera
