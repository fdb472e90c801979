// A JSON text while it arrives. The base64 of large arrays in it is decoded as it comes and is not kept: the time that
// a sender takes is used, characters are looked at while they are in a cache, and memory does not fill with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tessera/array/buffer.h"

namespace tessera {

/// Holds a text of known size, which is received piece by piece into its room(). It guesses what the buffers of arrays
/// are: objects whose members come in the usual order, `shape` and `dtype` before `data` (PROTOCOL.md section 5). Where
/// it guesses right the text is folded: the bytes are there, their base64 is not. A JsonScanner that knows of this
/// object takes the bytes; for all others a folded text is no JSON, so that nobody takes it for what was sent. If
/// reading fails, then, unfold() and read again. What was guessed wrong costs time only; bytes and text together are
/// never larger than the whole text, but for what the pool rounds up. One thread at a time.
class ArrivingText {
 public:
  /// What is not folded.
  struct Limits {
    std::size_t array_bytes = std::size_t{64}
                              << 10;  ///< smaller arrays: their text is still in a cache when it is whole
    std::size_t text_bytes = 4096;    ///< a text of which no more has come yet
  };
  /// For a text that is to be read as it was sent.
  static constexpr Limits kFoldsNothing{.array_bytes = SIZE_MAX, .text_bytes = SIZE_MAX};

  /// What stands between the quotes of a folded text: a control character, which JSON does not allow there.
  static constexpr char kFold = '\x01';
  /// So much of a text stays in a core's cache until it is decoded.
  static constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

  /// Takes memory for a text of `size_bytes`, all at once: pages that are never written to cost nothing. Throws
  /// std::bad_alloc.
  explicit ArrivingText(std::size_t size_bytes) : ArrivingText(size_bytes, Limits{}) {}
  ArrivingText(std::size_t size_bytes, Limits limits)
      : memory_(Buffer::allocate(size_bytes)),
        size_bytes_(size_bytes),
        limits_(limits),
        state_(size_bytes > limits.array_bytes ? State::kOutside : State::kGivenUp) {}

  ArrivingText(ArrivingText&&) = default;
  ArrivingText& operator=(ArrivingText&&) = default;
  // A copy would share the memory.
  ArrivingText(const ArrivingText&) = delete;
  ArrivingText& operator=(const ArrivingText&) = delete;
  ~ArrivingText() = default;

  /// Where the next bytes belong; empty once all have come.
  [[nodiscard]] std::span<std::byte> room() const;
  /// Notes that so many bytes were put there, and looks at them. Requires: size_bytes <= room().size().
  void add(std::size_t size_bytes);
  /// Does both with bytes that lie elsewhere, as many as there is room for; returns how many.
  std::size_t put(std::span<const std::byte> bytes);

  /// Of the whole text, as it is sent.
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }
  /// So much of it has come.
  [[nodiscard]] std::size_t arrived_bytes() const { return filled_ + left_out_; }

  /// The text, folded where is_folded() says so. Valid until add() or unfold(). Requires: all has come.
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(memory_.data()), filled_}; }
  [[nodiscard]] bool is_folded() const { return !folds_.empty(); }
  /// The bytes of the folded text whose kFold stands at `place` of text(), as base64_decode() makes them; nothing if
  /// none does.
  [[nodiscard]] std::optional<Buffer> find_bytes(std::size_t place) const;
  /// Makes text() what was sent, unless the bytes were given up. Requires: all has come, and nobody has written to the
  /// bytes.
  void unfold();
  /// Lets go of the bytes, which so belong to those alone who took them. Nothing can be unfolded any more.
  void give_up_bytes() { folds_.clear(); }

 private:
  enum class State { kOutside, kInText, kDecoding, kGivenUp };
  // A text between its quotes; while it is decoded, it has so many characters if the guess is right.
  struct Fold {
    std::size_t place = 0;
    std::size_t length = 0;
    Buffer bytes;
  };

  void look();
  void pass_to_text();
  void pass_text();
  [[nodiscard]] bool begin_decoding();
  [[nodiscard]] bool decode();
  void fold();
  void give_up();
  [[nodiscard]] char* at(std::size_t place) const { return reinterpret_cast<char*>(memory_.data()) + place; }

  Buffer memory_;
  std::size_t size_bytes_;
  Limits limits_;
  std::size_t filled_ = 0;    // of memory_
  std::size_t left_out_ = 0;  // characters that have come and are not there
  State state_;
  std::size_t at_ = 0;  // where the next look begins; may be behind what has arrived
  std::size_t text_begin_ = 0;
  bool was_tried_ = false;  // the text that began there
  Fold current_;
  std::size_t decoded_ = 0;  // characters of it, which are left out
  std::vector<Fold> folds_;
};

}  // namespace tessera
