#include "scalar_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "lax_number.h"
#include "tessera/base/python_text.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

using Kind = Problem::Kind;

// Doubles from here on are no int64 any more.
constexpr double kInt64End = 9223372036854775808.0;

Value bound_value(double bound, bool is_integer) {
  const bool fits = std::abs(bound) < kInt64End && bound == std::trunc(bound);
  return is_integer && fits ? Value(static_cast<std::int64_t>(bound)) : Value(bound);
}

/// Written so that NaN breaks every bound. A long double holds every 64-bit integer exactly.
std::optional<Problem> check_bounds(const Bounds& bounds, long double number, bool is_integer) {
  const auto broken = [is_integer](Kind kind, double bound) {
    Problem problem = problem_of(kind);
    problem.bound = bound_value(bound, is_integer);
    return problem;
  };
  if (bounds.le && !(number <= static_cast<long double>(*bounds.le))) {
    return broken(Kind::kLessThanEqual, *bounds.le);
  }
  if (bounds.lt && !(number < static_cast<long double>(*bounds.lt))) {
    return broken(Kind::kLessThan, *bounds.lt);
  }
  if (bounds.ge && !(number >= static_cast<long double>(*bounds.ge))) {
    return broken(Kind::kGreaterThanEqual, *bounds.ge);
  }
  if (bounds.gt && !(number > static_cast<long double>(*bounds.gt))) {
    return broken(Kind::kGreaterThan, *bounds.gt);
  }
  return std::nullopt;
}

std::optional<Kind> make_integer(Value& value, bool is_huge) {
  switch (value.kind()) {
    case Value::Kind::kInt:
    case Value::Kind::kUInt:
      return std::nullopt;
    case Value::Kind::kBool:
      value = Value(static_cast<std::int64_t>(value.boolean()));
      return std::nullopt;
    case Value::Kind::kDouble: {
      const double number = value.number();
      if (is_huge) {
        return Kind::kIntParsingSize;
      }
      if (!std::isfinite(number)) {
        return Kind::kFiniteNumber;
      }
      if (number != std::trunc(number)) {
        return Kind::kIntFromFloat;
      }
      if (number < -kInt64End || number >= kInt64End) {
        return Kind::kIntParsingSize;
      }
      value = Value(static_cast<std::int64_t>(number));
      return std::nullopt;
    }
    case Value::Kind::kText: {
      const auto read = read_lax_integer(value.text());
      if (const auto* fault = std::get_if<IntegerFault>(&read)) {
        return *fault == IntegerFault::kTooLarge ? Kind::kIntParsingSize : Kind::kIntParsing;
      }
      const auto* small = std::get_if<std::int64_t>(&read);
      value = small != nullptr ? Value(*small) : Value(std::get<std::uint64_t>(read));
      return std::nullopt;
    }
    default:
      return Kind::kIntType;
  }
}

std::optional<Kind> make_number(Value& value, bool is_huge) {
  if (value.kind() == Value::Kind::kText) {
    const auto number = read_lax_number(value.text());
    if (!number) {
      return Kind::kFloatParsing;
    }
    value = Value(*number);
  } else if (value.kind() == Value::Kind::kBool) {
    value = Value(value.boolean() ? 1.0 : 0.0);
  } else if (value.is_number()) {
    value = Value(value.number());
    if (is_huge && std::isinf(value.number())) {
      return Kind::kFloatType;
    }
  } else {
    return Kind::kFloatType;
  }
  return std::nullopt;
}

std::optional<bool> word_of_truth(std::string_view word) {
  constexpr std::array<std::string_view, 6> kTrue = {"1", "on", "t", "true", "y", "yes"};
  constexpr std::array<std::string_view, 6> kFalse = {"0", "off", "f", "false", "n", "no"};
  constexpr std::size_t kLongest = 5;
  if (word.size() > kLongest) {
    return std::nullopt;
  }
  std::string small(word);
  for (char& c : small) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  for (std::size_t i = 0; i < kTrue.size(); ++i) {
    if (small == kTrue[i] || small == kFalse[i]) {
      return small == kTrue[i];
    }
  }
  return std::nullopt;
}

std::optional<Kind> make_boolean(Value& value, bool is_huge) {
  std::optional<bool> flag;
  switch (value.kind()) {
    case Value::Kind::kBool:
      return std::nullopt;
    case Value::Kind::kText:
      flag = word_of_truth(value.text());
      break;
    case Value::Kind::kInt:
      if (value.integer() == 0 || value.integer() == 1) {
        flag = value.integer() == 1;
      }
      break;
    case Value::Kind::kDouble: {
      const double number = value.number();
      if (is_huge || !(std::abs(number) < kInt64End) || number != std::trunc(number)) {
        return Kind::kBoolType;
      }
      if (number == 0.0 || number == 1.0) {
        flag = number == 1.0;
      }
      break;
    }
    default:
      return Kind::kBoolType;
  }
  if (!flag) {
    return Kind::kBoolParsing;
  }
  value = Value(*flag);
  return std::nullopt;
}

std::optional<Problem> check_text(const Type& type, const Value& value) {
  if (value.kind() != Value::Kind::kText) {
    return problem_of(Kind::kStringType);
  }
  const std::string& text = value.text();
  if (!is_utf8(text)) {
    return problem_of(Kind::kStringUnicode);
  }
  if (type.min_length() || type.max_length()) {
    if (auto problem = check_length(type, count_characters(text), "")) {
      return problem;
    }
  }
  if (!type.matches_pattern(text)) {
    Problem problem = problem_of(Kind::kStringPatternMismatch);
    problem.text = type.pattern().value_or("");
    return problem;
  }
  return std::nullopt;
}

/// Python's equality of a value and a choice: 2.0 and true are integers too.
bool is_choice(const Value& value, const Value& choice) {
  if (choice.kind() == Value::Kind::kText) {
    return value.kind() == Value::Kind::kText && value.text() == choice.text();
  }
  switch (value.kind()) {
    case Value::Kind::kBool:
      return choice.integer() == static_cast<std::int64_t>(value.boolean());
    case Value::Kind::kInt:
      return choice.integer() == value.integer();
    case Value::Kind::kDouble: {
      const double number = value.number();
      return std::abs(number) < kInt64End && number == std::trunc(number) &&
             choice.integer() == static_cast<std::int64_t>(number);
    }
    default:
      return false;
  }
}

std::optional<Problem> check_choice(const Type& type, Value& value, bool is_huge) {
  const bool is_beyond_int64 = is_huge || value.kind() == Value::Kind::kUInt;
  const auto is_integer = [](const Value& choice) { return choice.kind() == Value::Kind::kInt; };
  if (is_beyond_int64 && std::ranges::any_of(type.choices(), is_integer)) {
    return problem_of(Kind::kIntParsingSize);
  }
  for (const Value& choice : type.choices()) {
    if (is_choice(value, choice)) {
      value = choice;
      return std::nullopt;
    }
  }
  Problem problem = problem_of(type.kind() == Type::Kind::kEnumeration ? Kind::kEnum : Kind::kLiteralError);
  problem.text = listed(type.choices());
  return problem;
}

}  // namespace

Problem length_problem(Problem::Kind kind, std::size_t bound, std::string noun, std::size_t count) {
  Problem problem = problem_of(kind);
  problem.bound = Value(static_cast<std::int64_t>(bound));
  problem.text = std::move(noun);
  problem.count = static_cast<std::int64_t>(count);
  return problem;
}

std::optional<Problem> check_length(const Type& type, std::size_t length, const char* noun) {
  const bool is_text = type.kind() == Type::Kind::kText;
  if (const auto least = type.min_length(); least && length < *least) {
    return length_problem(is_text ? Kind::kStringTooShort : Kind::kTooShort, *least, noun, length);
  }
  if (const auto most = type.max_length(); most && length > *most) {
    return length_problem(is_text ? Kind::kStringTooLong : Kind::kTooLong, *most, noun, length);
  }
  return std::nullopt;
}

std::string listed(const std::vector<Value>& choices) {
  std::vector<std::string> parts;
  parts.reserve(choices.size());
  for (const Value& choice : choices) {
    parts.push_back(choice.kind() == Value::Kind::kText ? python_repr(choice.text())
                                                        : std::to_string(choice.integer()));
  }
  return python_choices(parts);
}

std::optional<Problem> check_scalar(const Type& type, Value& value, bool is_huge) {
  std::optional<Kind> kind;
  switch (type.kind()) {
    case Type::Kind::kText:
      return check_text(type, value);
    case Type::Kind::kChoice:
    case Type::Kind::kEnumeration:
      return check_choice(type, value, is_huge);
    case Type::Kind::kInteger:
      kind = make_integer(value, is_huge);
      break;
    case Type::Kind::kNumber:
      kind = make_number(value, is_huge);
      break;
    default:
      kind = make_boolean(value, is_huge);
      break;
  }
  if (kind) {
    return problem_of(*kind);
  }
  if (type.kind() == Type::Kind::kBoolean) {
    return std::nullopt;
  }
  const bool is_integer = type.kind() == Type::Kind::kInteger;
  const auto number = value.kind() == Value::Kind::kInt    ? static_cast<long double>(value.integer())
                      : value.kind() == Value::Kind::kUInt ? static_cast<long double>(value.unsigned_integer())
                                                           : static_cast<long double>(value.number());
  return check_bounds(type.bounds(), number, is_integer);
}

}  // namespace tessera
