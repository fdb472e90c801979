// What an endpoint takes and returns: null, bool, number, text, list, object or array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tessera/array/array.h"

namespace tessera {

class Value;
class Object;
/// The only list in a list must be made a value, `List{Value(List{1, 2})}`: for clang, `List{List{1, 2}}` is a copy.
using List = std::vector<Value>;

/// Thrown by the accessors of Value and Object when a value is of another kind, or a key is not there. In answers it
/// becomes Python's ValueError.
class ValueError final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The members of a JSON object in order of insertion, each known to be given or a default. Copies are deep, but arrays
/// share their buffers. One thread at a time, but constant members may be called from several at once.
class Object {
 public:
  struct Member;

  Object();
  /// Of a key that comes twice the last value counts, at the place of the first.
  Object(std::initializer_list<std::pair<std::string, Value>> members);
  Object(const Object& other);
  Object& operator=(const Object& other);
  Object(Object&&) noexcept;
  Object& operator=(Object&&) noexcept;
  ~Object();

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool is_empty() const { return size() == 0; }
  /// The members in order. References live until the object is changed.
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }

  /// Finds the value of a key; nullptr if there is none. Valid until the object is changed, like at(). A value that is
  /// written to through it stays a default if it was one.
  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] Value* find(std::string_view key);
  /// The value of a key. Throws ValueError that names the key if there is none.
  [[nodiscard]] const Value& at(std::string_view key) const;
  [[nodiscard]] const Value& operator[](std::string_view key) const { return at(key); }
  /// Whether the key is there because the caller gave it, not as a default.
  [[nodiscard]] bool is_given(std::string_view key) const;
  /// Sets the value of a key; a new key goes to the end, an old one keeps its place.
  void set(std::string key, Value value);
  /// The same for a value that nobody gave.
  void set_default(std::string key, Value value);
  /// Removes a key; returns whether it was there. Takes time in proportion to the size.
  bool remove(std::string_view key);

 private:
  // Where the key's member is; size() if it has none.
  [[nodiscard]] std::size_t index_of(std::string_view key) const;
  void put(std::string key, Value value, bool is_default);

  std::vector<Member> members_;
  // Only for objects of many members, so that hostile ones do not cost a scan for each key. A tree, since the keys of a
  // hash table can be chosen to collide; with keys of its own, since short texts move when members_ grows.
  using Index = std::map<std::string, std::size_t, std::less<>>;
  std::unique_ptr<Index> index_;
};

/// A value. Integers are exact in 64 bits (signed, or kUInt, only above 2^63-1); other numbers are doubles. Copies are
/// deep, but arrays share their buffers. One thread at a time, but constant members may be called from several at once.
class Value {
 public:
  enum class Kind { kNull, kBool, kInt, kUInt, kDouble, kText, kList, kObject, kArray };

  Value() = default;
  Value(std::nullptr_t) {}                                                // NOLINT(google-explicit-constructor)
  Value(bool flag) : state_(flag) {}                                      // NOLINT(google-explicit-constructor)
  Value(int number) : state_(static_cast<std::int64_t>(number)) {}        // NOLINT(google-explicit-constructor)
  Value(long number) : state_(static_cast<std::int64_t>(number)) {}       // NOLINT(google-explicit-constructor)
  Value(long long number) : state_(static_cast<std::int64_t>(number)) {}  // NOLINT(google-explicit-constructor)
  Value(unsigned number) : state_(static_cast<std::int64_t>(number)) {}   // NOLINT(google-explicit-constructor)
  Value(unsigned long number);                                            // NOLINT(google-explicit-constructor)
  Value(double number) : state_(number) {}                                // NOLINT(google-explicit-constructor)
  Value(const char* text) : state_(std::string(text)) {}                  // NOLINT(google-explicit-constructor)
  Value(std::string text) : state_(std::move(text)) {}                    // NOLINT(google-explicit-constructor)
  Value(std::string_view text) : state_(std::string(text)) {}             // NOLINT(google-explicit-constructor)
  Value(List list) : state_(std::move(list)) {}                           // NOLINT(google-explicit-constructor)
  Value(Object object) : state_(std::move(object)) {}                     // NOLINT(google-explicit-constructor)
  Value(Array array) : state_(std::move(array)) {}                        // NOLINT(google-explicit-constructor)

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(state_.index()); }
  [[nodiscard]] bool is_null() const { return kind() == Kind::kNull; }
  [[nodiscard]] bool is_array() const { return kind() == Kind::kArray; }
  /// Whether it is an integer or a double (a bool is none).
  [[nodiscard]] bool is_number() const;

  /// Each throws ValueError if the value is of another kind.
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer() const;            ///< throws, too, above 2^63-1
  [[nodiscard]] std::uint64_t unsigned_integer() const;  ///< throws, too, below 0
  [[nodiscard]] double number() const;                   ///< any integer (inexact beyond 2^53) or double
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] const List& list() const;
  [[nodiscard]] List& list();
  [[nodiscard]] const Object& object() const;
  [[nodiscard]] Object& object();
  [[nodiscard]] const Array& array() const;
  [[nodiscard]] Array& array();

 private:
  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, List, Object, Array> state_;
};

/// One key of an object with its value.
struct Object::Member {
  std::string key;
  Value value;
  bool is_default = false;  ///< nobody gave it
};

}  // namespace tessera
