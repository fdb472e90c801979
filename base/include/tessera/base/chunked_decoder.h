// Decodes a chunked body (RFC 9112 section 7.1) piece by piece, for server and client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tessera {

/// Takes bytes as they arrive. Extensions and trailers are skipped, if they are what they have to be: text behind a
/// semicolon, lines with a name. One thread at a time.
class ChunkedDecoder {
 public:
  /// Errors arise when more than `limit_bytes` of data are announced.
  explicit ChunkedDecoder(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  enum class State { kMore, kDone, kBad, kTooLarge };
  struct Step {
    State state = State::kMore;
    std::size_t used = 0;   ///< how many of the bytes were taken
    std::string_view data;  ///< what of them belongs to the body
  };
  /// Takes bytes up to the end of one piece of data. Requires: no step ended in another state than kMore.
  [[nodiscard]] Step next(std::string_view bytes);

 private:
  enum class Expect {
    kSizeBegin,
    kSize,
    kExtensionBegin,
    kExtension,
    kSizeEnd,
    kData,
    kDataCr,
    kDataLf,
    kTrailer,
    kTrailerName,
    kTrailerLine,
    kTrailerEnd,
    kLastLf
  };

  [[nodiscard]] State take(char character);
  [[nodiscard]] State take_size(char character);
  [[nodiscard]] State take_trailer(char character);

  // Of one size line with its extension, or of all trailers.
  static constexpr std::size_t kMaxLineBytes = 16 << 10;

  std::uint64_t limit_bytes_;
  std::uint64_t size_ = 0;  // of the chunk, then what is left of it
  std::size_t line_bytes_ = 0;
  Expect expect_ = Expect::kSizeBegin;
};

}  // namespace tessera
