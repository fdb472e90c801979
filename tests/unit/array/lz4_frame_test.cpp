#include "tessera/array/lz4_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4frame.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tessera/array/base64.h"

namespace tessera {
namespace {

using Bytes = std::vector<std::byte>;

Bytes counting(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i / 3) & 0xffU);
  }
  return bytes;
}

Bytes noise(std::size_t size) {
  std::mt19937_64 random(size);
  Bytes bytes(size);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random() & 0xffU);
  }
  return bytes;
}

Bytes copy_of(const Buffer& buffer) {
  return {buffer.bytes().begin(), buffer.bytes().end()};
}

Bytes from_base64(std::string_view text) {
  Bytes bytes(base64_decoded_size(text).value_or(0));
  EXPECT_TRUE(base64_decode(text, bytes));
  return bytes;
}

Bytes framed(const Bytes& bytes, const LZ4F_preferences_t& preferences) {
  Bytes frame(LZ4F_compressFrameBound(bytes.size(), &preferences));
  frame.resize(LZ4F_compressFrame(frame.data(), frame.size(), bytes.data(), bytes.size(), &preferences));
  return frame;
}

// What the frame holds, or the text of the error.
std::variant<Bytes, std::string> unframed(const Bytes& frame, std::size_t size) {
  Bytes into(size);
  const Status status = lz4_decompress(frame, into);
  if (!status) {
    EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument);
    return status.error().message();
  }
  return into;
}

std::string error_of(const Bytes& frame, std::size_t size) {
  auto result = unframed(frame, size);
  const auto* message = std::get_if<std::string>(&result);
  return message != nullptr ? *message : "no error";
}

// The float64 array [1, 2, 3] as the real runtime wrote it.
constexpr std::string_view kFrameOfThree = "BCJNGGhAGAAAAAAAAABPFQAAABEAAQAh8D8HALAAAEAAAAAAAAAIQAAAAAA=";

Bytes three() {
  const std::array<double, 3> numbers{1, 2, 3};
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

TEST(Lz4FrameTest, WritesTheFrameOfTheRealRuntime) {
  EXPECT_EQ(copy_of(lz4_compress(three())), from_base64(kFrameOfThree));
}

TEST(Lz4FrameTest, WritesElevenBytesForNone) {
  EXPECT_EQ(copy_of(lz4_compress({})), from_base64("BCJNGGBAggAAAAA="));
}

TEST(Lz4FrameTest, ReadsBackEverySize) {
  for (const std::size_t size : {0U, 1U, 100U, 65535U, 65536U, 65537U, 300000U, 4194304U, 9000000U}) {
    for (const Bytes& bytes : {counting(size), noise(size)}) {
      const Bytes frame = copy_of(lz4_compress(bytes));
      ASSERT_EQ(std::get<Bytes>(unframed(frame, size)), bytes) << size;
    }
  }
}

TEST(Lz4FrameTest, WritesIndependentBlocksAndTheContentSize) {
  for (const std::size_t size : {1000U, 65536U, 65537U, 9000000U}) {
    const Bytes frame = copy_of(lz4_compress(counting(size)));
    EXPECT_EQ(frame[4], std::byte{0x68}) << size;
    EXPECT_EQ(lz4_content_size(frame), size);
  }
}

TEST(Lz4FrameTest, ReadsLinkedBlocksChecksumsAndUnknownSizes) {
  const Bytes bytes = counting(200000);
  for (const auto mode : {LZ4F_blockLinked, LZ4F_blockIndependent}) {
    for (const auto checksum : {LZ4F_noContentChecksum, LZ4F_contentChecksumEnabled}) {
      for (const auto block : {LZ4F_max64KB, LZ4F_max256KB, LZ4F_max1MB, LZ4F_max4MB}) {
        LZ4F_preferences_t preferences{};
        preferences.frameInfo = {block, mode, checksum, LZ4F_frame, 0, 0, LZ4F_blockChecksumEnabled};
        const Bytes frame = framed(bytes, preferences);
        EXPECT_EQ(std::get<Bytes>(unframed(frame, bytes.size())), bytes);
        EXPECT_EQ(lz4_content_size(frame), std::nullopt);
      }
    }
  }
}

TEST(Lz4FrameTest, NamesBothSizesWhereTheHeaderSaysAnother) {
  const Bytes frame = from_base64(kFrameOfThree);
  EXPECT_EQ(error_of(frame, 32), "lz4 frame announces 24 bytes, expected 32");
  EXPECT_EQ(error_of(frame, 0), "lz4 frame announces 24 bytes, expected 0");
}

TEST(Lz4FrameTest, NamesTheSizesWhereTheHeaderIsSilent) {
  const Bytes frame = framed(three(), {});
  EXPECT_EQ(error_of(frame, 32), "lz4 frame holds 24 bytes, expected 32");
  EXPECT_EQ(error_of(frame, 16), "lz4 frame holds more than 16 bytes");
  EXPECT_EQ(error_of(frame, 0), "lz4 frame holds more than 0 bytes");
}

TEST(Lz4FrameTest, NeverWritesMoreThanAsked) {
  const Bytes frame = framed(counting(300000), {});
  for (const std::size_t size : {0U, 1U, 65535U, 65536U, 70000U, 299999U}) {
    EXPECT_EQ(error_of(frame, size), "lz4 frame holds more than " + std::to_string(size) + " bytes");
  }
}

TEST(Lz4FrameTest, RefusesBytesBehindTheFrame) {
  Bytes frame = from_base64(kFrameOfThree);
  frame.resize(frame.size() + 4, std::byte{'x'});
  EXPECT_EQ(error_of(frame, 24), "4 bytes follow the lz4 frame");
}

TEST(Lz4FrameTest, RefusesEveryTruncation) {
  const Bytes frame = from_base64(kFrameOfThree);
  for (std::size_t size = 0; size < frame.size(); ++size) {
    EXPECT_NE(error_of({frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size)}, 24), "no error") << size;
  }
}

TEST(Lz4FrameTest, RefusesWhatIsNoFrame) {
  EXPECT_THAT(error_of({}, 0), testing::HasSubstr("does not begin with 04 22 4d 18"));
  EXPECT_THAT(error_of(Bytes(8), 8), testing::HasSubstr("does not begin with 04 22 4d 18"));
  EXPECT_EQ(lz4_content_size(Bytes(8)), std::nullopt);
}

TEST(Lz4FrameTest, RefusesSkippableFrames) {
  Bytes frames = from_base64("UCpNGAAAAAA=");
  const Bytes frame = from_base64(kFrameOfThree);
  frames.insert(frames.end(), frame.begin(), frame.end());
  EXPECT_THAT(error_of(frames, 24), testing::HasSubstr("does not begin with 04 22 4d 18"));
}

TEST(Lz4FrameTest, SurvivesEveryChangedByte) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  const Bytes bytes = counting(500);
  const Bytes frame = framed(bytes, preferences);
  for (std::size_t place = 0; place < frame.size(); ++place) {
    for (unsigned code = 1; code < 256; ++code) {
      Bytes changed = frame;
      changed[place] ^= static_cast<std::byte>(code);
      const auto result = unframed(changed, bytes.size());
      if (const auto* decoded = std::get_if<Bytes>(&result)) {
        ASSERT_EQ(*decoded, bytes) << place;
      }
    }
  }
}

}  // namespace
}  // namespace tessera
