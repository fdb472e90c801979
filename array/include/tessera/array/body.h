// The body of a response as segments: pieces of text, and arrays that are encoded while they are sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/array/buffer.h"

namespace tessera {

/// A list of segments with a known total length. Move-only. One thread at a time.
class Body {
 public:
  Body() = default;
  explicit Body(std::string text);
  Body(Body&&) noexcept = default;
  Body& operator=(Body&&) noexcept = default;

  /// The number of bytes of the whole.
  [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }

  /// Appends text; small pieces share one segment. Throws std::bad_alloc.
  void append(std::string_view text);
  /// Room of `size` characters at the end of the text, to write into; then say with grow() how many were written. Valid
  /// until the next call of a member but grow(). Throws std::bad_alloc.
  [[nodiscard]] char* prepare(std::size_t size);
  /// Requires: prepare() just before, with no less.
  void grow(std::size_t size);
  /// Appends the base64 of the first `size_bytes` of a buffer, without encoding them yet. Shares the buffer: nobody may
  /// write to it while the body lives. Requires: size_bytes <= bytes.size_bytes(). Throws std::bad_alloc.
  void append_base64(Buffer bytes, std::size_t size_bytes);

  /// Gives the bytes of a body piece by piece, encoding as it goes. The body outlives it and is not changed. Each is of
  /// one thread; several may read one body.
  class Cursor {
   public:
    explicit Cursor(const Body& body) : body_(body) {}
    /// The next bytes: a view of the body's own text, or what was put into `scratch` (at least 4 KiB; its size bounds
    /// a piece). Small segments are gathered into one piece. Empty at the end. Valid until the next call.
    [[nodiscard]] std::span<const std::byte> next(std::span<std::byte> scratch);

   private:
    const Body& body_;
    std::size_t segment_ = 0;
    std::size_t offset_ = 0;  // in the segment: characters of text, or bytes not yet encoded
  };

  /// The whole as one string; for tests and small answers.
  [[nodiscard]] std::string to_string() const;

 private:
  struct Base64Segment {
    Buffer bytes;
    std::size_t size_bytes = 0;
  };
  // Text segments are pooled buffers with the number of characters used, so that a large json body never grows by
  // copying.
  struct TextSegment {
    Buffer buffer;
    std::size_t size = 0;
  };
  std::vector<std::variant<TextSegment, Base64Segment>> segments_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace tessera
