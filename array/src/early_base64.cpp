#include "tessera/array/early_base64.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "tessera/array/base64.h"
#include "tessera/array/dtype.h"
#include "tessera/array/json_scanner.h"
#include "tessera/array/shape.h"
#include "text_scan.h"

namespace tessera {
namespace {

// How far before a buffer the type of its array is looked for.
constexpr std::size_t kLookBackBytes = 1024;

// A scanner at the value of the last member of that name; it finds a fault if there is none.
JsonScanner at_last_member(std::string_view before, std::string_view quoted_name) {
  const std::size_t place = before.rfind(quoted_name);
  std::string_view value =
      place == std::string_view::npos ? std::string_view() : before.substr(place + quoted_name.size());
  const std::size_t colon = value.find_first_not_of(" \t\r\n");
  value = colon != std::string_view::npos && value[colon] == ':' ? value.substr(colon + 1) : std::string_view();
  return JsonScanner(value);
}

// The size of the array whose buffer follows.
std::optional<std::uint64_t> guess_array_bytes(std::string_view before) {
  JsonScanner dtype_scanner = at_last_member(before, R"("dtype")");
  if (dtype_scanner.peek() != JsonKind::kText) {
    return std::nullopt;
  }
  const std::optional<DType> dtype = find_dtype(dtype_scanner.read_text());
  JsonScanner scanner = at_last_member(before, R"("shape")");
  if (!dtype || scanner.peek() != JsonKind::kList) {
    return std::nullopt;
  }
  Shape shape;
  scanner.enter();
  while (scanner.next_item()) {
    if (scanner.peek() != JsonKind::kNumber) {
      return std::nullopt;
    }
    const JsonNumber size = scanner.read_number();
    if (size.kind != JsonNumber::Kind::kInt || size.integer < 0) {
      return std::nullopt;
    }
    shape.push_back(size.integer);
  }
  return scanner.has_fault() ? std::nullopt : byte_count(shape, *dtype);
}

}  // namespace

void EarlyBase64::advance(std::string_view text) {
  bool has_more = true;
  while (has_more && at_ < text.size()) {
    switch (state_) {
      case State::kOutside:
        pass_to_text(text);
        break;
      case State::kInText:
        pass_text(text);
        break;
      case State::kDecoding:
        has_more = decode(text);
        break;
      case State::kGivenUp:
        return;
    }
  }
}

std::optional<Buffer> EarlyBase64::take(std::size_t begin, std::size_t length) {
  const auto found = std::ranges::find_if(
      done_, [&](const Candidate& candidate) { return candidate.begin == begin && candidate.length == length; });
  if (found == done_.end()) {
    return std::nullopt;
  }
  Buffer bytes = std::move(found->bytes);
  done_.erase(found);
  return bytes;
}

void EarlyBase64::pass_to_text(std::string_view text) {
  const std::size_t quote = text.find('"', at_);
  if (quote == std::string_view::npos) {
    at_ = text.size();
    return;
  }
  at_ = text_begin_ = quote + 1;
  was_tried_ = false;
  state_ = State::kInText;
}

// Passes over what is there of a text.
void EarlyBase64::pass_text(std::string_view text) {
  const char* const end = text.data() + text.size();
  const char* const stop = find_ascii_text_stop(text.data() + at_, end);
  at_ = static_cast<std::size_t>(stop - text.data());
  if (stop != end) {
    state_ = *stop == '"' ? State::kOutside : State::kInText;
    at_ += *stop == '\\' ? 2 : 1;
  } else if (!was_tried_ && at_ - text_begin_ >= limits_.text_bytes) {
    was_tried_ = true;
    if (begin_decoding(text)) {
      at_ = text_begin_;
      state_ = State::kDecoding;
    }
  }
}

bool EarlyBase64::begin_decoding(std::string_view text) {
  const std::size_t before = std::min(text_begin_ - 1, kLookBackBytes);
  const std::optional<std::uint64_t> size = guess_array_bytes(text.substr(text_begin_ - 1 - before, before));
  const std::uint64_t left = text_bytes_ - std::min<std::uint64_t>(text_begin_, text_bytes_);
  if (!size || *size < limits_.array_bytes || *size >= left || base64_length(static_cast<std::size_t>(*size)) >= left) {
    return false;
  }
  try {
    candidate_.bytes = Buffer::allocate(static_cast<std::size_t>(*size));
  } catch (const std::exception&) {
    return false;  // whoever needs the array will say so
  }
  candidate_.begin = text_begin_;
  candidate_.length = base64_length(static_cast<std::size_t>(*size));
  decoded_ = 0;
  return true;
}

// Decodes what is there of the candidate; false if nothing more can be done now.
bool EarlyBase64::decode(std::string_view text) {
  const std::size_t there = std::min(text.size() - candidate_.begin, candidate_.length);
  // Only the last four characters of a text may be padded.
  const std::size_t until = there / 4 * 4;
  if (decoded_ != until) {
    const std::string_view piece = text.substr(candidate_.begin + decoded_, until - decoded_);
    const std::span<std::byte> left = candidate_.bytes.bytes().subspan(decoded_ / 4 * 3);
    const std::size_t size = until == candidate_.length ? left.size() : piece.size() / 4 * 3;
    if (base64_decoded_size(piece) != size || !base64_decode(piece, left.first(size))) {
      give_up();
      return false;
    }
    decoded_ = until;
    at_ = candidate_.begin + until;
  }
  if (until != candidate_.length || at_ == text.size()) {
    return false;
  }
  if (text[at_] != '"') {
    give_up();
    return false;
  }
  done_.push_back(std::exchange(candidate_, {}));
  ++at_;
  state_ = State::kOutside;
  return true;
}

// One wrong guess tells that others would be wrong, too: the arrays are compressed, or the text means something else.
void EarlyBase64::give_up() {
  candidate_ = {};
  state_ = State::kGivenUp;
}

}  // namespace tessera
