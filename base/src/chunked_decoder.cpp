#include "tessera/base/chunked_decoder.h"

#include <algorithm>
#include <limits>

#include "tessera/base/ascii.h"

namespace tessera {
namespace {

// Of a header's name (RFC 9110 section 5.6.2).
bool is_token_character(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// Tabs, and what has a shape; bytes beyond ASCII too.
bool is_text(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
}

}  // namespace

ChunkedDecoder::Step ChunkedDecoder::next(std::string_view bytes) {
  Step step;
  while (step.used < bytes.size()) {
    if (expect_ == Expect::kData) {
      const std::uint64_t available = bytes.size() - step.used;
      const auto taken = static_cast<std::size_t>(std::min(size_, available));
      step.data = bytes.substr(step.used, taken);
      step.used += taken;
      size_ -= taken;
      if (size_ == 0) {
        expect_ = Expect::kDataCr;
      }
      return step;
    }
    step.state = take(bytes[step.used++]);
    if (step.state != State::kMore) {
      return step;
    }
  }
  return step;
}

ChunkedDecoder::State ChunkedDecoder::take(char character) {
  if (++line_bytes_ > kMaxLineBytes) {
    return State::kBad;
  }
  switch (expect_) {
    case Expect::kSizeBegin:
    case Expect::kSize:
      return take_size(character);
    case Expect::kExtensionBegin:
      if (character == ';') {
        expect_ = Expect::kExtension;
      } else if (character == '\r') {
        expect_ = Expect::kSizeEnd;
      } else if (character != ' ' && character != '\t') {
        return State::kBad;
      }
      return State::kMore;
    case Expect::kExtension:
      if (character == '\r') {
        expect_ = Expect::kSizeEnd;
        return State::kMore;
      }
      return is_text(character) ? State::kMore : State::kBad;
    case Expect::kSizeEnd:
      if (character != '\n') {
        return State::kBad;
      }
      line_bytes_ = 0;
      expect_ = size_ == 0 ? Expect::kTrailer : Expect::kData;
      if (size_ > limit_bytes_) {
        return State::kTooLarge;
      }
      limit_bytes_ -= size_;
      return State::kMore;
    case Expect::kDataCr:
      expect_ = Expect::kDataLf;
      return character == '\r' ? State::kMore : State::kBad;
    case Expect::kDataLf:
      expect_ = Expect::kSizeBegin;
      line_bytes_ = 0;
      return character == '\n' ? State::kMore : State::kBad;
    case Expect::kTrailer:
    case Expect::kTrailerName:
    case Expect::kTrailerLine:
      return take_trailer(character);
    case Expect::kTrailerEnd:
      expect_ = Expect::kTrailer;
      return character == '\n' ? State::kMore : State::kBad;
    case Expect::kLastLf:
      return character == '\n' ? State::kDone : State::kBad;
    case Expect::kData:
      break;
  }
  return State::kBad;
}

ChunkedDecoder::State ChunkedDecoder::take_size(char character) {
  const int digit = hex_digit(character);
  if (digit >= 0) {
    if (expect_ == Expect::kSizeBegin) {
      size_ = 0;
      expect_ = Expect::kSize;
    }
    if (size_ > std::numeric_limits<std::uint64_t>::max() >> 4) {
      return State::kTooLarge;
    }
    size_ = size_ << 4 | static_cast<std::uint64_t>(digit);
    return State::kMore;
  }
  if (expect_ == Expect::kSizeBegin) {
    return State::kBad;
  }
  switch (character) {
    case '\r':
      expect_ = Expect::kSizeEnd;
      return State::kMore;
    case ';':
      expect_ = Expect::kExtension;
      return State::kMore;
    case ' ':
    case '\t':
      expect_ = Expect::kExtensionBegin;
      return State::kMore;
    default:
      return State::kBad;
  }
}

ChunkedDecoder::State ChunkedDecoder::take_trailer(char character) {
  if (expect_ == Expect::kTrailerLine) {
    if (character == '\r') {
      expect_ = Expect::kTrailerEnd;
      return State::kMore;
    }
    return is_text(character) ? State::kMore : State::kBad;
  }
  if (expect_ == Expect::kTrailer && character == '\r') {
    expect_ = Expect::kLastLf;
    return State::kMore;
  }
  if (expect_ == Expect::kTrailerName && character == ':') {
    expect_ = Expect::kTrailerLine;
    return State::kMore;
  }
  expect_ = Expect::kTrailerName;
  return is_token_character(character) ? State::kMore : State::kBad;
}

}  // namespace tessera
