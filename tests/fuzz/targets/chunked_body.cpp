// The chunked framing of bodies, in one piece and in pieces of any size; and what is framed comes back.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "input.h"
#include "targets.h"
#include "tessera/base/chunked_decoder.h"

namespace tessera::fuzzing {
namespace {

using State = ChunkedDecoder::State;

constexpr std::uint64_t kLimitBytes = 1 << 16;

struct Decoded {
  State state = State::kMore;
  std::size_t used = 0;
  std::string data;

  friend bool operator==(const Decoded&, const Decoded&) = default;
};

Decoded decode_in_pieces(std::string_view bytes, std::size_t piece) {
  ChunkedDecoder decoder(kLimitBytes);
  Decoded decoded;
  while (decoded.state == State::kMore && decoded.used < bytes.size()) {
    const std::string_view part = bytes.substr(decoded.used, piece);
    std::size_t at = 0;
    while (decoded.state == State::kMore && at < part.size()) {
      const ChunkedDecoder::Step step = decoder.next(part.substr(at));
      require(step.used > 0 || step.state != State::kMore, "each step takes something");
      decoded.data += step.data;
      decoded.state = step.state;
      at += step.used;
    }
    decoded.used += at;
  }
  return decoded;
}

std::string framed(std::string_view data, std::size_t piece) {
  std::string text;
  for (std::size_t at = 0; at < data.size(); at += piece) {
    const std::string_view part = data.substr(at, piece);
    std::array<char, 17> size{};
    const auto end = std::to_chars(size.data(), size.data() + size.size(), part.size(), 16).ptr;
    text.append(size.data(), end).append("\r\n").append(part).append("\r\n");
  }
  return text + "0\r\n\r\n";
}

}  // namespace

void fuzz_chunked_body(std::string_view bytes) {
  Input input(bytes);
  const std::size_t piece = 1U + input.byte();
  const std::string_view body = input.rest();
  const Decoded whole = decode_in_pieces(body, body.size() + 1);
  require(whole.data.size() <= kLimitBytes, "no more data than the limit");
  require(decode_in_pieces(body, piece) == whole, "pieces say what the whole says");

  const std::string frame = framed(body.substr(0, kLimitBytes), piece);
  const Decoded again = decode_in_pieces(frame, 1 + piece / 2);
  require(again.state == State::kDone && again.used == frame.size(), "a frame ends where it ends");
  require(again.data == body.substr(0, kLimitBytes), "what is framed comes back");
}

}  // namespace tessera::fuzzing
