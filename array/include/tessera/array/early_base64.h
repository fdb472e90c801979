// Decodes the base64 of large arrays while the JSON text that holds them still arrives: the time that a sender takes is
// used, and the characters are looked at while they are in a cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tessera/array/buffer.h"

namespace tessera {

/// Follows a text and decodes what looks like the buffer of an array object whose members come in the usual order,
/// `shape` and `dtype` before `data` (PROTOCOL.md section 5). It decides nothing: a JsonScanner reads the text when it
/// is whole, and takes the bytes of a text instead of decoding it again. What was guessed wrong costs time only, and
/// the bytes held are never more than three quarters of the text. One thread at a time.
class EarlyBase64 {
 public:
  /// What is left to the scanner.
  struct Limits {
    std::size_t array_bytes = std::size_t{64}
                              << 10;  ///< smaller arrays: their text is still in a cache when it is whole
    std::size_t text_bytes = 4096;    ///< a text of which no more has come yet
  };

  /// Of a text, so much is best received between two looks: it stays in a core's cache until it is decoded.
  static constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

  /// Follows a text that will have `text_bytes` in all.
  explicit EarlyBase64(std::uint64_t text_bytes) : EarlyBase64(text_bytes, Limits{}) {}
  EarlyBase64(std::uint64_t text_bytes, Limits limits) : text_bytes_(text_bytes), limits_(limits) {}

  /// Looks at what is new in `text`: all that has arrived of it so far, which may lie elsewhere each time.
  void advance(std::string_view text);

  /// The bytes of the `length` characters from `begin` on, as base64_decode() makes them, if they were decoded. Gives
  /// each only once.
  [[nodiscard]] std::optional<Buffer> take(std::size_t begin, std::size_t length);

 private:
  enum class State { kOutside, kInText, kDecoding, kGivenUp };
  // A text between its quotes, which has so many characters if the guess is right.
  struct Candidate {
    std::size_t begin = 0;
    std::size_t length = 0;
    Buffer bytes;
  };

  void pass_to_text(std::string_view text);
  void pass_text(std::string_view text);
  [[nodiscard]] bool begin_decoding(std::string_view text);
  [[nodiscard]] bool decode(std::string_view text);
  void give_up();

  std::uint64_t text_bytes_;
  Limits limits_;
  State state_ = State::kOutside;
  std::size_t at_ = 0;  // where the next look begins; may be behind what has arrived
  std::size_t text_begin_ = 0;
  bool was_tried_ = false;  // the text that began there
  Candidate candidate_;
  std::size_t decoded_ = 0;  // characters of it
  std::vector<Candidate> done_;
};

}  // namespace tessera
