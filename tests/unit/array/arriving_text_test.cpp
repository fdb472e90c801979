#include "tessera/array/arriving_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "support/arriving.h"
#include "tessera/array/array_reader.h"
#include "tessera/array/base64.h"
#include "tessera/array/json_scanner.h"

namespace tessera {
namespace {

using testing::arrive;

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

// The text with a fold in the place of each buffer.
std::string folded(std::string text, std::initializer_list<std::string_view> buffers) {
  for (const std::string_view buffer : buffers) {
    text.replace(text.find(buffer), buffer.size(), 1, ArrivingText::kFold);
  }
  return text;
}

void expect_bytes(const std::optional<Buffer>& bytes, std::string_view buffer) {
  ASSERT_TRUE(bytes.has_value());
  std::string again(base64_length(bytes->size_bytes()), '\0');
  base64_encode(bytes->bytes(), again.data());
  EXPECT_TRUE(again == buffer);
}

TEST(ArrivingTextTest, FoldsTheBuffersOfArraysWhateverThePieces) {
  const std::string first = base64_of(kBytes, 1);
  const std::string second = base64_of(kBytes, 2);
  const std::string text = R"({"inputs":{"name":"a \"b\" \\","a":)" + array_text("[40001]", first) + R"(,"b" : )" +
                           array_text("[ 1, 40001 ]", second) + "}}";
  const std::string expected = folded(text, {first, second});
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{1000}, std::size_t{4097}, std::size_t{65'537}, std::size_t{200'000}}) {
    ArrivingText arriving = arrive(text, piece);
    EXPECT_TRUE(arriving.room().empty());
    EXPECT_EQ(arriving.arrived_bytes(), text.size());
    ASSERT_TRUE(arriving.is_folded());
    ASSERT_TRUE(arriving.text() == expected);
    const std::size_t place = expected.find(ArrivingText::kFold);
    expect_bytes(arriving.find_bytes(place), first);
    EXPECT_FALSE(arriving.find_bytes(place + 1).has_value());
    expect_bytes(arriving.find_bytes(expected.rfind(ArrivingText::kFold)), second);

    arriving.unfold();
    EXPECT_FALSE(arriving.is_folded());
    EXPECT_TRUE(arriving.text() == text);
    EXPECT_FALSE(arriving.find_bytes(place).has_value());
  }
}

TEST(ArrivingTextTest, CountsWhatHasArrivedWhileItIsFolded) {
  const std::string text = array_text("[40001]", base64_of(kBytes, 6)) + "  ";
  ArrivingText arriving(text.size());
  for (std::size_t there = 0; there != text.size(); ++there) {
    ASSERT_EQ(arriving.arrived_bytes(), there);
    ASSERT_EQ(arriving.room().size(), std::min(text.size() - there, ArrivingText::kPieceBytes));
    arriving.room().front() = static_cast<std::byte>(text[there]);
    arriving.add(1);
  }
  EXPECT_TRUE(arriving.room().empty());
  EXPECT_TRUE(arriving.is_folded());
}

TEST(ArrivingTextTest, KeepsPaddingOfEitherLength) {
  for (const std::size_t size : {std::size_t{65'536}, std::size_t{65'540}, std::size_t{65'544}}) {  // by three: 1, 2, 0
    const std::string buffer = base64_of(size, 3);
    const std::string text = array_text("[" + std::to_string(size / 4) + "]", buffer);
    ArrivingText arriving = arrive(text, 10'001);
    EXPECT_TRUE(arriving.text() == folded(text, {buffer}));
    arriving.unfold();
    EXPECT_TRUE(arriving.text() == text);
  }
}

TEST(ArrivingTextTest, LetsGoOfTheBytesThatWereTaken) {
  const std::string buffer = base64_of(kBytes, 1);
  const std::string text = array_text("[40001]", buffer);
  ArrivingText arriving = arrive(text, 65'536);
  const std::optional<Buffer> bytes = arriving.find_bytes(arriving.text().find(ArrivingText::kFold));
  ASSERT_TRUE(bytes.has_value());
  EXPECT_FALSE(bytes->is_unique());
  arriving.give_up_bytes();
  EXPECT_TRUE(bytes->is_unique());
}

TEST(ArrivingTextTest, LeavesAloneWhatIsNoSuchBuffer) {
  const std::string buffer = base64_of(kBytes, 4);
  std::string faulty = buffer;
  faulty[100'000] = '-';
  std::string padded_early = buffer;
  padded_early.replace(65'536 - 4, 4, "AAA=");
  std::string escaped = buffer;
  escaped.replace(100'000, 2, R"(\/)");
  std::string left_over = base64_of(65'540, 3);
  left_over[left_over.size() - 2] = 'B';
  const std::string texts[] = {
      array_text("[40001]", faulty),
      array_text("[40001]", padded_early),
      array_text("[40001]", escaped),
      array_text("[16385]", left_over),
      array_text("[40000]", buffer),                // another size
      array_text("[40002]", buffer),                //
      array_text("[-1]", buffer),                   // no size
      array_text("[9000000000000000000]", buffer),  // more than there can be
      array_text("[1e3]", buffer),
      array_text("40001", buffer),
      array_text("[40001", buffer),
      R"({"dtype":"float33","shape":[40001],"data":{"buffer":")" + buffer + R"("}})",
      R"({"dtype":"bool","shape":[160004],"data":{"buffer":")" + buffer + R"("}})",  // reading may change them
      R"({"shape":[40001],"data":{"buffer":")" + buffer + R"(","encoding":"base64"},"dtype":"float32"})",
      buffer,
      "\"" + buffer + "\"",
      "\"" + buffer,
      array_text("[40001]", buffer).substr(0, 120'000),
      array_text("[40001]", buffer).substr(0, array_text("[40001]", buffer).find(buffer) + buffer.size()),
      R"("dtype":"float32","shape":[40001]")" + buffer.substr(0, 120'000),
  };
  for (const std::string& text : texts) {
    for (const std::size_t piece : {std::size_t{4099}, std::size_t{65'536}}) {
      const ArrivingText arriving = arrive(text, piece);
      EXPECT_FALSE(arriving.is_folded()) << text.substr(0, 100);
      ASSERT_TRUE(arriving.text() == text) << text.substr(0, 100);
    }
  }
}

TEST(ArrivingTextTest, FoldsNothingIfItIsToldSo) {
  const std::string text = array_text("[40001]", base64_of(kBytes, 1));
  const ArrivingText arriving = arrive(text, 65'536, ArrivingText::kFoldsNothing);
  EXPECT_FALSE(arriving.is_folded());
  EXPECT_TRUE(arriving.text() == text);
}

// One who sends the mark himself gains nothing.
TEST(ArrivingTextTest, TakesNoMarkOfTheSenderForAFold) {
  const std::string buffer = base64_of(kBytes, 1);
  const std::string text = "[" + array_text("[40001]", buffer) + "," + array_text("[40001]", "\x01") + "]";
  ArrivingText arriving = arrive(text, 65'536);
  ASSERT_TRUE(arriving.is_folded());
  JsonScanner scanner(arriving.text(), {.arrived = &arriving});
  scanner.skip_value();
  EXPECT_TRUE(scanner.has_fault());
  arriving.unfold();
  EXPECT_TRUE(arriving.text() == text);
}

// What is read of a folded text is what is read of the whole one, or a fault.
TEST(ArrivingTextTest, ChangesNoResultOfReading) {
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
      R"({"shape":[3],"object_type":"array","shape":[40001],"dtype":"float32","data":{"buffer":")" + buffer +
          R"(","encoding":"base64"},"shape":[0]})",
      R"({"shape":[40001],"dtype":"float32","data":{"buffer":")" + buffer + R"(","buffer":")" + buffer +
          R"(","encoding":"base64"}})",
      R"({"shape":[40001],"dtype":"float32","data":{"buffer":")" + buffer + R"(","encoding":"base64"},"more":[)" +
          array_text("[40001]", buffer) + "]}",
      R"({"shape":[40001],"dtype":"float32","data":{"buffer":")" + buffer + R"(","encoding":"binref"}})",
      R"({"shape":[40001],"dtype":"float32","data":{"buffer":")" + buffer + R"(","encoding":"json"}})",
      // The type that the scanner meets is another than the one that was guessed, and may be written to.
      R"({"shape":[160004],"dtype":"bool","data":{"encoding":{"dtype":"uint8"},"buffer":")" + buffer +
          R"(","encoding":"base64"},"dtype":"uint8"})",
      R"({"shape":[160004],"dtype":"uint8","d\u0074ype":"bool","data":{"buffer":")" + buffer +
          R"(","encoding":"base64"},"dtype":"uint8"})",
      R"({"shape":[160004],"dtype":"uint8","d\u0074ype":"bool","data":{"buffer":")" + buffer +
          R"(","encoding":"base64"}})",
      array_text("[40001]", buffer).substr(0, 200'000),
  };
  int good = 0;
  for (const std::string& text : texts) {
    const ArrayReader reader(nullptr, {});
    ArrivingText arriving = arrive(text, 50'000);
    JsonScanner plain(text);
    JsonScanner scanner(arriving.text(), {.arrived = &arriving});
    const auto expected = reader.read(plain, ArraySpec());
    const auto actual = reader.read(scanner, ArraySpec());
    if (const auto* const array = std::get_if<Array>(&actual); array != nullptr && !scanner.has_fault()) {
      ASSERT_TRUE(std::holds_alternative<Array>(expected)) << text.substr(0, 100);
      EXPECT_EQ(array->shape(), std::get<Array>(expected).shape());
      EXPECT_TRUE(std::ranges::equal(array->bytes(), std::get<Array>(expected).bytes()));
      ++good;
    } else if (!arriving.is_folded()) {
      EXPECT_EQ(scanner.has_fault(), plain.has_fault());
      EXPECT_EQ(actual.index(), expected.index());
    }
    arriving.unfold();
    EXPECT_TRUE(arriving.text() == text) << text.substr(0, 100);
  }
  EXPECT_EQ(good, 3);  // the first two, and the one whose first buffer does not count
}

}  // namespace
}  // namespace tessera
