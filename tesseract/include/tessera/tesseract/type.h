// The types that fields of a schema can have, made with the functions below: array(), scalar(), integer(), …
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/array/array.h"
#include "tessera/array/value.h"

namespace tessera {

class Pattern;
class Schema;

/// The bounds of an integer or a number; those that are set hold. As doubles: whole numbers beyond 2^53 cannot be
/// stated exactly. NaN breaks every bound.
struct Bounds {
  std::optional<double> ge, gt, le, lt;
};

/// What a value must be. A plain value, made by the functions below and refined by its methods, each of which returns
/// the refined type, so that a field reads as one sentence: `array(DType::kFloat64, {kFreeAxis}).differentiable()`.
/// A method that does not go with the kind, or leaves nothing that the type could take, throws std::invalid_argument.
/// What each kind takes: PROTOCOL.md sections 6 and 9.2. Constant ones are safe to use from any thread.
class Type {
 public:
  enum class Kind {
    kArray,
    kInteger,
    kNumber,
    kBoolean,
    kText,
    kChoice,       ///< one of some texts or integers (Python's Literal)
    kEnumeration,  ///< one of some texts, under a name (Python's Enum)
    kList,
    kDict,    ///< text keys, values of one type
    kObject,  ///< the members of a Schema
    kAny,     ///< any value without arrays
  };

  /// The array takes part in derivatives. For kArray.
  [[nodiscard]] Type differentiable() const;
  /// Null is a value too.
  [[nodiscard]] Type optional() const;
  /// Bounds; at_least and at_most include theirs, above and below do not. For kInteger and kNumber.
  [[nodiscard]] Type at_least(double bound) const;
  [[nodiscard]] Type above(double bound) const;
  [[nodiscard]] Type at_most(double bound) const;
  [[nodiscard]] Type below(double bound) const;
  /// Bounds of a text in characters (code points), of a list or dict in items, both included. For kText, kList and
  /// kDict.
  [[nodiscard]] Type min_length(std::size_t length) const;
  [[nodiscard]] Type max_length(std::size_t length) const;
  /// A regular expression (RE2) that the text must contain a match of; anchor it with ^ and $. For kText. Throws
  /// std::invalid_argument, too, if it is none.
  [[nodiscard]] Type pattern(std::string expression) const;

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_optional() const { return is_optional_; }
  /// Of kArray.
  [[nodiscard]] const ArraySpec& array_spec() const { return array_; }
  [[nodiscard]] bool is_differentiable() const { return is_differentiable_; }
  [[nodiscard]] const Bounds& bounds() const { return bounds_; }
  [[nodiscard]] std::optional<std::size_t> min_length() const { return min_length_; }
  [[nodiscard]] std::optional<std::size_t> max_length() const { return max_length_; }
  [[nodiscard]] const std::optional<std::string>& pattern() const { return pattern_; }
  /// Whether a text contains a match of the pattern; true if there is none.
  [[nodiscard]] bool matches_pattern(std::string_view text) const;
  /// The values of a choice or an enumeration.
  [[nodiscard]] const std::vector<Value>& choices() const { return choices_; }
  /// The name of an enumeration.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The type of the items of a list or the values of a dict. Requires: kList or kDict.
  [[nodiscard]] const Type& element() const { return *element_; }
  /// The members of an object. Requires: kObject.
  [[nodiscard]] const Schema& schema() const { return *schema_; }

 private:
  friend Type array(DType dtype, Shape shape);
  friend Type array(DType dtype);
  friend Type array_of_any_dtype(Shape shape);
  friend Type array_of_any_dtype();
  friend Type integer();
  friend Type number();
  friend Type boolean();
  friend Type text();
  friend Type choice(std::vector<Value> values);
  friend Type enumeration(std::string name, std::vector<std::string> values);
  friend Type list_of(Type element);
  friend Type dict_of(Type element);
  friend Type object(Schema schema);
  friend Type anything();

  explicit Type(Kind kind) : kind_(kind) {}

  void require(bool is_right_kind, const char* what) const;
  void require_satisfiable() const;

  Kind kind_;
  bool is_optional_ = false;
  bool is_differentiable_ = false;
  ArraySpec array_;
  Bounds bounds_;
  std::optional<std::size_t> min_length_;
  std::optional<std::size_t> max_length_;
  std::optional<std::string> pattern_;
  std::shared_ptr<const Pattern> compiled_pattern_;
  std::vector<Value> choices_;
  std::string name_;
  std::shared_ptr<const Type> element_;
  std::shared_ptr<const Schema> schema_;
};

/// An array of a dtype and shape; kFreeAxis for an axis of any size, {} for a single element. Throws
/// std::invalid_argument for another negative size.
[[nodiscard]] Type array(DType dtype, Shape shape);
/// An array of a dtype and any rank.
[[nodiscard]] Type array(DType dtype);
/// An array of this shape, of whatever dtype comes. Throws as array() does.
[[nodiscard]] Type array_of_any_dtype(Shape shape);
/// An array of any dtype and rank.
[[nodiscard]] Type array_of_any_dtype();
/// An array of rank zero.
[[nodiscard]] inline Type scalar(DType dtype) {
  return array(dtype, Shape{});
}
/// A whole number of 64 bits, signed, or unsigned up to 2^64-1; takes 1.0, "7" and true as pydantic does (PROTOCOL.md
/// section 6.3).
[[nodiscard]] Type integer();
/// A double; takes whole numbers, texts of numbers and booleans.
[[nodiscard]] Type number();
/// True or false, and pydantic's words for them.
[[nodiscard]] Type boolean();
/// A text in UTF-8.
[[nodiscard]] Type text();
/// One of these texts or integers. Throws std::invalid_argument for none, for other values, and for one twice.
[[nodiscard]] Type choice(std::vector<Value> values);
/// One of these texts, under a type name that the document shows. Throws std::invalid_argument for none, and for one
/// twice.
[[nodiscard]] Type enumeration(std::string name, std::vector<std::string> values);
/// A list of any length, of one type.
[[nodiscard]] Type list_of(Type element);
/// An object of any keys, with values of one type.
[[nodiscard]] Type dict_of(Type element);
/// An object with the members of a schema.
[[nodiscard]] Type object(Schema schema);
/// Any JSON value without arrays in it. Whole numbers beyond 64 bits become doubles.
[[nodiscard]] Type anything();

}  // namespace tessera
