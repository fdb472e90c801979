// A pull scanner for JSON with the rules, the error texts and the error positions of Python's json module: takes NaN,
// Infinity, 1e400, lone surrogates and control-free text; knows where each value stands in the text (PROTOCOL.md
// sections 5.1, 7.2 and 17).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/array/buffer.h"

namespace tessera {

class ArrivingText;

enum class JsonKind { kNull, kFalse, kTrue, kNumber, kText, kList, kObject, kInvalid };

/// Why a text is not JSON that we read.
struct JsonFault {
  enum class Kind {
    kSyntax,   ///< 422 json_invalid (PROTOCOL.md section 7.2)
    kTooDeep,  ///< 400
    kNotUtf8,  ///< 400
  };
  Kind kind = Kind::kSyntax;
  std::size_t position = 0;  ///< in characters of the text (after a byte order mark), as Python counts;
                             ///< 0 for kTooDeep and kNotUtf8
  std::string text;          ///< Python's words, e.g. "Expecting ',' delimiter"
};

/// A number as it was written.
struct JsonNumber {
  enum class Kind {
    kInt,      ///< fits int64
    kUInt,     ///< fits uint64, above int64
    kHugeInt,  ///< a whole number beyond 64 bits; `real` is the nearest double
    kDouble,
  };
  Kind kind = Kind::kInt;
  std::int64_t integer = 0;            ///< kInt
  std::uint64_t unsigned_integer = 0;  ///< kUInt
  double real = 0.0;                   ///< the value as a double, for every kind
};

/// A text between its quotes, as it was written. Views the scanned text.
struct JsonText {
  std::string_view raw;
  bool has_escapes = false;
  bool is_ascii = true;
};

/// Walks one JSON text from front to back, one value at a time. Nothing is copied and nothing allocated but for decoded
/// texts. After a fault every call returns at once (kInvalid, false, empty), so loops end by themselves; ask fault() at
/// the end. One thread at a time; `text` outlives the scanner.
class JsonScanner {
 public:
  struct Options {
    std::size_t depth = 512;                ///< nested lists and objects; skip_value() recurses as deep
    const ArrivingText* arrived = nullptr;  ///< whose text() this is; outlives the scanner
  };

  explicit JsonScanner(std::string_view text) : JsonScanner(text, Options{}) {}
  JsonScanner(std::string_view text, Options options);

  /// The kind of the value that stands here; consumes white space only. kInvalid sets a fault.
  [[nodiscard]] JsonKind peek();

  /// Enters the object or list that stands here; a fault (kTooDeep) beyond the limit. Requires: peek() says so.
  void enter();
  /// In an object: reads the next key (decoded; valid until the next call of next_member) and the colon, so that its
  /// value stands here; false at the end of the object, which is then left.
  [[nodiscard]] bool next_member(std::string_view& key);
  /// In a list: whether another item stands here; false at the end of the list, which is then left.
  [[nodiscard]] bool next_item();

  /// In a list: what next_item() and read_number() do, if the next item is a number that follows at once, or a comma
  /// and one space at most. Otherwise false, and nothing has changed.
  [[nodiscard]] bool next_number(JsonNumber& number);

  /// Each reads the value that stands here. Requires: peek() says so.
  void read_literal();  ///< null, true or false
  [[nodiscard]] JsonNumber read_number();
  [[nodiscard]] JsonText read_raw_text();
  [[nodiscard]] std::string read_text();
  /// The text that stands here; nothing, and the value is skipped, if it is another value.
  std::optional<std::string> read_optional_text();

  /// For texts whose characters are checked in another way, in one pass with decoding them: the `length` bytes of
  /// the text that stands here, if a quote stands behind them; nothing else is looked at. Requires: peek() says kText.
  [[nodiscard]] std::optional<std::string_view> find_text_of_length(std::size_t length) const;
  /// Goes on behind that text. Requires: find_text_of_length(length) gave it, it is free of quotes, backslashes and
  /// control characters, and it is ASCII.
  void accept_text_of_length(std::size_t length);
  /// Reads the text that stands here if it is folded to so many bytes, and gives them. Requires: peek() says kText.
  [[nodiscard]] std::optional<Buffer> read_folded_text(std::size_t size_bytes);

  /// Skips the value that stands here, whatever it is, checking it; returns where it stands in the text.
  std::string_view skip_value();
  /// Where the next value begins (after white space), in bytes from the start of the text, which is behind
  /// a byte order mark.
  [[nodiscard]] std::size_t offset();
  /// The number of bytes that are left.
  [[nodiscard]] std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }
  /// The text from an offset to where the scanner is now: the value that was read since then.
  /// Requires: an offset that offset() gave.
  [[nodiscard]] std::string_view text_since(std::size_t offset) const;

  /// Checks that only white space is left. A fault, "Extra data", otherwise.
  void expect_end();

  [[nodiscard]] bool has_fault() const { return fault_.has_value(); }
  /// Requires: has_fault().
  [[nodiscard]] const JsonFault& fault() const { return *fault_; }  // NOLINT(bugprone-unchecked-optional-access)

 private:
  void skip_spaces();
  // The character that stands here, or a NUL at the end.
  [[nodiscard]] char here() const { return at_ != end_ ? *at_ : '\0'; }
  void fail(const char* where, std::string_view text, JsonFault::Kind kind = JsonFault::Kind::kSyntax);
  void leave();
  void skip_nested_value();
  [[nodiscard]] bool starts_with(std::string_view word) const;
  // Passes one escape, whose backslash stands at `at`; nullptr after a fault.
  [[nodiscard]] const char* pass_escape(const char* at, const char* opening_quote);

  const char* text_;   // with its byte order mark
  const char* begin_;  // behind it
  const char* end_;
  const char* at_;
  Options options_;
  std::size_t depth_ = 0;
  bool is_first_ = false;  // just entered: no comma before the next member or item
  std::string key_;        // of the last member, if its escapes had to be resolved
  std::optional<JsonFault> fault_;
};

/// Decodes a text: escapes resolved, surrogate pairs joined, a lone surrogate kept as three WTF-8 bytes. Requires: it
/// was read without fault. Safe to call from any thread, like the next two.
[[nodiscard]] std::string decode_json_text(const JsonText& text);

/// Appends `text` as a JSON string in quotes: `"`, `\` and control characters escaped, all else as it is. A lone
/// surrogate becomes `\udXXX`, other bytes that are not UTF-8 become U+FFFD.
void append_json_text(std::string& out, std::string_view text);

/// Appends one JSON value from its own text, compact, with null for NaN and infinities, so that any reader takes it.
/// Requires: `value` was scanned without fault. Recurses as deep as it is nested.
void append_compact_json(std::string& out, std::string_view value);

}  // namespace tessera
