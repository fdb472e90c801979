#include "tessera/array/arriving_text.h"

#include <algorithm>
#include <cstring>
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
  // Folds of truth values are not taken, since reading may change their bytes.
  if (!dtype || *dtype == DType::kBool || scanner.peek() != JsonKind::kList) {
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

std::span<std::byte> ArrivingText::room() const {
  return memory_.bytes().subspan(filled_, std::min(size_bytes_ - arrived_bytes(), kPieceBytes));
}

void ArrivingText::add(std::size_t size_bytes) {
  filled_ += size_bytes;
  look();
  if (state_ == State::kDecoding && arrived_bytes() == size_bytes_) {
    give_up();
  }
}

std::size_t ArrivingText::put(std::span<const std::byte> bytes) {
  const std::span<std::byte> place = room();
  const std::size_t count = std::min(bytes.size(), place.size());
  if (count != 0) {
    std::memcpy(place.data(), bytes.data(), count);
    add(count);
  }
  return count;
}

std::optional<Buffer> ArrivingText::find_bytes(std::size_t place) const {
  const auto found = std::ranges::lower_bound(folds_, place, {}, &Fold::place);
  return found == folds_.end() || found->place != place ? std::nullopt : std::optional(found->bytes);
}

void ArrivingText::unfold() {
  if (folds_.empty()) {
    return;
  }
  std::size_t end = std::exchange(filled_, filled_ + left_out_);
  std::size_t end_of_whole = filled_;
  for (; !folds_.empty(); folds_.pop_back()) {
    const Fold& last = folds_.back();
    const std::size_t behind = end - (last.place + 1);
    end_of_whole -= behind;
    std::memmove(at(end_of_whole), at(end - behind), behind);
    end_of_whole -= last.length;
    base64_encode(last.bytes.bytes(), at(end_of_whole));
    end = last.place;
  }
  left_out_ = 0;
}

void ArrivingText::look() {
  bool has_more = true;
  while (has_more && at_ < filled_) {
    switch (state_) {
      case State::kOutside:
        pass_to_text();
        break;
      case State::kInText:
        pass_text();
        break;
      case State::kDecoding:
        has_more = decode();
        break;
      case State::kGivenUp:
        return;
    }
  }
}

void ArrivingText::pass_to_text() {
  const std::size_t quote = text().find('"', at_);
  if (quote == std::string_view::npos) {
    at_ = filled_;
    return;
  }
  at_ = text_begin_ = quote + 1;
  was_tried_ = false;
  state_ = State::kInText;
}

// Passes over what is there of a text.
void ArrivingText::pass_text() {
  const char* const end = at(filled_);
  const char* const stop = find_ascii_text_stop(at(at_), end);
  at_ = static_cast<std::size_t>(stop - at(0));
  if (stop != end) {
    state_ = *stop == '"' ? State::kOutside : State::kInText;
    at_ += *stop == '\\' ? 2 : 1;
  } else if (!was_tried_ && at_ - text_begin_ >= limits_.text_bytes) {
    was_tried_ = true;
    if (begin_decoding()) {
      at_ = text_begin_;
      state_ = State::kDecoding;
    }
  }
}

bool ArrivingText::begin_decoding() {
  const std::size_t last_fold = folds_.empty() ? 0 : folds_.back().place;
  const std::size_t before = std::min(text_begin_ - 1 - last_fold, kLookBackBytes);
  const std::optional<std::uint64_t> size = guess_array_bytes(text().substr(text_begin_ - 1 - before, before));
  const std::uint64_t left = size_bytes_ - (text_begin_ + left_out_);
  if (!size || *size < limits_.array_bytes || *size >= left || base64_length(static_cast<std::size_t>(*size)) >= left) {
    return false;
  }
  try {
    current_.bytes = Buffer::allocate(static_cast<std::size_t>(*size));
  } catch (const std::exception&) {
    return false;  // whoever needs the array will say so
  }
  current_.place = text_begin_;
  current_.length = base64_length(static_cast<std::size_t>(*size));
  decoded_ = 0;
  return true;
}

// Decodes what is there of the text, which is then no longer there; false if nothing more can be done now.
bool ArrivingText::decode() {
  const std::size_t there = std::min(filled_ - current_.place, current_.length - decoded_) / 4 * 4;
  if (there != 0) {
    const std::string_view piece = text().substr(current_.place, there);
    const std::span<std::byte> left = current_.bytes.bytes().subspan(decoded_ / 4 * 3);
    // Only the last four characters of a text may be padded.
    const std::size_t size = decoded_ + there == current_.length ? left.size() : there / 4 * 3;
    if (base64_decoded_size(piece) != size || !base64_decode(piece, left.first(size))) {
      give_up();
      return false;
    }
    decoded_ += there;
    left_out_ += there;
    filled_ -= there;
    std::memmove(at(current_.place), at(current_.place + there), filled_ - current_.place);
  }
  if (decoded_ != current_.length || filled_ == current_.place) {
    return false;
  }
  if (*at(current_.place) != '"') {
    give_up();
    return false;
  }
  fold();
  return true;
}

// Puts the mark before the closing quote.
void ArrivingText::fold() {
  std::memmove(at(current_.place + 1), at(current_.place), filled_ - current_.place);
  *at(current_.place) = kFold;
  ++filled_;
  --left_out_;
  at_ = current_.place + 2;
  folds_.push_back(std::exchange(current_, {}));
  state_ = State::kOutside;
}

// One wrong guess tells that others would be wrong, too: the arrays are compressed, or the text means something else.
// What of this one is left out is put back.
void ArrivingText::give_up() {
  std::memmove(at(current_.place + decoded_), at(current_.place), filled_ - current_.place);
  const std::size_t bytes = decoded_ == current_.length ? current_.bytes.size_bytes() : decoded_ / 4 * 3;
  base64_encode(current_.bytes.bytes().first(bytes), at(current_.place));
  filled_ += decoded_;
  left_out_ -= decoded_;
  current_ = {};
  state_ = State::kGivenUp;
}

}  // namespace tessera
