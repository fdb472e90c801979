#include "tessera/array/json_scanner.h"

#include "number_text.h"
#include "python_decoding.h"
#include "tessera/array/arriving_text.h"
#include "tessera/base/ascii.h"
#include "tessera/base/utf8.h"
#include "text_scan.h"

namespace tessera {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_space(char character) {
  return character == ' ' || character == '\n' || character == '\t' || character == '\r';
}

// Python guesses UTF-16 and UTF-32 from where the zero bytes are; we read neither (PROTOCOL.md section 17).
bool looks_like_wide_characters(std::string_view text) {
  return (text.size() >= 4 || text.size() == 2) && (text[0] == '\0' || text[1] == '\0');
}

}  // namespace

JsonScanner::JsonScanner(std::string_view text, Options options)
    : text_(text.data()), begin_(text_), end_(text_ + text.size()), at_(text_), options_(options) {
  if (looks_like_wide_characters(text)) {
    fail(at_, "not UTF-8", JsonFault::Kind::kNotUtf8);
    return;
  }
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    begin_ += kByteOrderMark.size();
    at_ = begin_;
  }
}

void JsonScanner::fail(const char* where, std::string_view text, JsonFault::Kind kind) {
  if (!fault_) {
    const std::string_view whole(begin_, static_cast<std::size_t>(end_ - begin_));
    // Python decodes the whole body first, so bytes that are no text win over what is no JSON.
    if (kind == JsonFault::Kind::kSyntax && !is_python_decodable(whole)) {
      kind = JsonFault::Kind::kNotUtf8;
    }
    JsonFault fault;
    fault.kind = kind;
    fault.text = text;
    fault.position = kind == JsonFault::Kind::kSyntax
                         ? count_characters(whole.substr(0, static_cast<std::size_t>(where - begin_)))
                         : 0;
    fault_ = std::move(fault);
  }
  // Every later call finds the end of the text and comes back here.
  at_ = end_;
}

void JsonScanner::skip_spaces() {
  while (at_ != end_ && is_space(*at_)) {
    ++at_;
  }
}

bool JsonScanner::starts_with(std::string_view word) const {
  return std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, word.size()) == word;
}

JsonKind JsonScanner::peek() {
  skip_spaces();
  switch (here()) {
    case '"':
      return JsonKind::kText;
    case '{':
      return JsonKind::kObject;
    case '[':
      return JsonKind::kList;
    case 'n':
      if (starts_with("null")) {
        return JsonKind::kNull;
      }
      break;
    case 't':
      if (starts_with("true")) {
        return JsonKind::kTrue;
      }
      break;
    case 'f':
      if (starts_with("false")) {
        return JsonKind::kFalse;
      }
      break;
    case '-':
      if (end_ - at_ >= 2 && (is_digit(at_[1]) || starts_with("-Infinity"))) {
        return JsonKind::kNumber;
      }
      break;
    case 'N':
      if (starts_with("NaN")) {
        return JsonKind::kNumber;
      }
      break;
    case 'I':
      if (starts_with("Infinity")) {
        return JsonKind::kNumber;
      }
      break;
    default:
      if (is_digit(here())) {
        return JsonKind::kNumber;
      }
      break;
  }
  fail(at_, "Expecting value");
  return JsonKind::kInvalid;
}

void JsonScanner::enter() {
  if (at_ == end_) {
    return;
  }
  if (depth_ == options_.depth) {
    fail(at_, "nested too deep", JsonFault::Kind::kTooDeep);
    return;
  }
  ++depth_;
  ++at_;
  is_first_ = true;
}

void JsonScanner::leave() {
  ++at_;
  --depth_;
  is_first_ = false;
}

bool JsonScanner::next_item() {
  skip_spaces();
  if (here() == ']') {
    leave();
    return false;
  }
  if (is_first_) {
    is_first_ = false;
    return at_ != end_ || peek() != JsonKind::kInvalid;
  }
  if (here() != ',') {
    fail(at_, "Expecting ',' delimiter");
    return false;
  }
  ++at_;
  skip_spaces();
  return at_ != end_ || peek() != JsonKind::kInvalid;
}

bool JsonScanner::next_number(JsonNumber& number) {
  const char* at = at_;
  if (!is_first_) {
    if (at == end_ || *at != ',') {
      return false;
    }
    ++at;
    if (at != end_ && *at == ' ') {
      ++at;
    }
  }
  const char* const stop = parse_number_text(at, end_, number);
  if (stop == nullptr) {
    return false;
  }
  at_ = stop;
  is_first_ = false;
  return true;
}

bool JsonScanner::next_member(std::string_view& key) {
  skip_spaces();
  if (here() == '}') {
    leave();
    return false;
  }
  if (!is_first_) {
    if (here() != ',') {
      fail(at_, "Expecting ',' delimiter");
      return false;
    }
    ++at_;
    skip_spaces();
  }
  is_first_ = false;
  if (here() != '"') {
    fail(at_, "Expecting property name enclosed in double quotes");
    return false;
  }
  const JsonText text = read_raw_text();
  skip_spaces();
  if (here() != ':') {
    fail(at_, "Expecting ':' delimiter");
    return false;
  }
  ++at_;
  skip_spaces();
  if (text.has_escapes) {
    key_ = decode_json_text(text);
    key = key_;
  } else {
    key = text.raw;
  }
  return true;
}

void JsonScanner::read_literal() {
  at_ += here() == 'f' ? 5 : (at_ == end_ ? 0 : 4);
}

JsonNumber JsonScanner::read_number() {
  JsonNumber number;
  if (const char* const stop = parse_number_text(at_, end_, number); stop != nullptr) {
    at_ = stop;
  } else {
    fail(at_, "Expecting value");
  }
  return number;
}

const char* JsonScanner::pass_escape(const char* at, const char* opening_quote) {
  constexpr std::string_view kShortEscapes = R"("\/bfnrt)";
  if (end_ - at < 2) {
    fail(opening_quote, "Unterminated string starting at");
    return nullptr;
  }
  if (at[1] != 'u') {
    if (kShortEscapes.find(at[1]) == std::string_view::npos) {
      fail(at, "Invalid \\escape");
      return nullptr;
    }
    return at + 2;
  }
  // Python wants a character behind the four digits, too.
  if (end_ - at < 7 || hex_digit(at[2]) < 0 || hex_digit(at[3]) < 0 || hex_digit(at[4]) < 0 || hex_digit(at[5]) < 0) {
    fail(at + 1, "Invalid \\uXXXX escape");
    return nullptr;
  }
  return at + 6;
}

JsonText JsonScanner::read_raw_text() {
  JsonText text;
  if (at_ == end_) {
    return text;
  }
  const char* const quote = at_;
  const char* stop = find_text_stop(quote + 1, end_);
  while (stop != end_ && *stop != '"') {
    if (*stop == '\\') {
      text.has_escapes = true;
      stop = pass_escape(stop, quote);
      if (stop == nullptr) {
        return JsonText{};
      }
    } else if (static_cast<unsigned char>(*stop) < 0x20) {
      fail(stop, "Invalid control character at");
      return JsonText{};
    } else {
      text.is_ascii = false;
    }
    stop = text.is_ascii ? find_text_stop(stop, end_) : find_ascii_text_stop(stop, end_);
  }
  if (stop == end_) {
    fail(quote, "Unterminated string starting at");
    return JsonText{};
  }
  text.raw = std::string_view(quote + 1, static_cast<std::size_t>(stop - quote - 1));
  if (!text.is_ascii && !is_python_decodable(text.raw)) {
    fail(quote, "not UTF-8", JsonFault::Kind::kNotUtf8);
    return JsonText{};
  }
  at_ = stop + 1;
  return text;
}

std::string JsonScanner::read_text() {
  const JsonText text = read_raw_text();
  return text.has_escapes ? decode_json_text(text) : std::string(text.raw);
}

std::optional<std::string_view> JsonScanner::find_text_of_length(std::size_t length) const {
  // Both quotes and the text between them.
  const auto left = static_cast<std::size_t>(end_ - at_);
  if (left < 2 || left - 2 < length || at_[length + 1] != '"') {
    return std::nullopt;
  }
  return std::string_view(at_ + 1, length);
}

void JsonScanner::accept_text_of_length(std::size_t length) {
  at_ += length + 2;
}

std::optional<Buffer> JsonScanner::read_folded_text(std::size_t size_bytes) {
  constexpr std::size_t kLength = 3;  // the mark and both quotes
  if (options_.arrived == nullptr || remaining() < kLength || at_[1] != ArrivingText::kFold) {
    return std::nullopt;
  }
  std::optional<Buffer> bytes = options_.arrived->find_bytes(static_cast<std::size_t>(at_ + 1 - text_));
  if (!bytes || bytes->size_bytes() != size_bytes) {
    return std::nullopt;
  }
  at_ += kLength;
  return bytes;
}

std::optional<std::string> JsonScanner::read_optional_text() {
  if (peek() == JsonKind::kText) {
    return read_text();
  }
  skip_value();
  return std::nullopt;
}

std::string_view JsonScanner::skip_value() {
  const std::size_t begin = offset();
  skip_nested_value();
  return fault_ ? std::string_view{} : text_since(begin);
}

void JsonScanner::skip_nested_value() {
  switch (peek()) {
    case JsonKind::kNull:
    case JsonKind::kFalse:
    case JsonKind::kTrue:
      read_literal();
      break;
    case JsonKind::kNumber:
      static_cast<void>(read_number());
      break;
    case JsonKind::kText:
      static_cast<void>(read_raw_text());
      break;
    case JsonKind::kList:
      enter();
      while (next_item()) {
        skip_nested_value();
      }
      break;
    case JsonKind::kObject: {
      enter();
      std::string_view key;
      while (next_member(key)) {
        skip_nested_value();
      }
      break;
    }
    case JsonKind::kInvalid:
      break;
  }
}

std::size_t JsonScanner::offset() {
  skip_spaces();
  return static_cast<std::size_t>(at_ - begin_);
}

std::string_view JsonScanner::text_since(std::size_t offset) const {
  return {begin_ + offset, static_cast<std::size_t>(at_ - begin_) - offset};
}

void JsonScanner::expect_end() {
  skip_spaces();
  if (at_ != end_) {
    fail(at_, "Extra data");
  }
}

}  // namespace tessera
