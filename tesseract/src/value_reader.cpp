#include "value_reader.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "conform.h"
#include "problems_by_key.h"
#include "scalar_check.h"
#include "shape_check.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

using Kind = Problem::Kind;

/// What stands at the key of a field; the last one, where a key comes twice.
struct Slot {
  bool is_there = false;
  Value value;
  std::vector<Problem> problems;
};

/// Keys that no field names, each once, in the order in which they came first, with what stood there last.
class UnknownKeys {
 public:
  struct Entry {
    std::string key;
    Value value;
    std::string_view text;
  };

  /// The entry of a key.
  Entry& at(std::string_view key) {
    const auto [found, is_new] = positions_.try_emplace(std::string(key), entries_.size());
    if (is_new) {
      entries_.push_back({std::string(key), {}, {}});
    }
    return entries_[found->second];
  }
  [[nodiscard]] bool is_full() const { return entries_.size() >= kMaxProblems; }
  [[nodiscard]] std::vector<Entry>& entries() { return entries_; }

 private:
  std::unordered_map<std::string, std::size_t> positions_;
  std::vector<Entry> entries_;
};

}  // namespace

Value value_of(const JsonNumber& number) {
  switch (number.kind) {
    case JsonNumber::Kind::kInt:
      return {number.integer};
    case JsonNumber::Kind::kUInt:
      return {number.unsigned_integer};
    case JsonNumber::Kind::kHugeInt:
    case JsonNumber::Kind::kDouble:
      break;
  }
  return {number.real};
}

Place place_of(const Spot& spot) {
  // A thousand problems may stand below the same keys.
  constexpr std::size_t kMaxKeyBytes = std::size_t{2} << 10;
  constexpr std::size_t kMaxKeysBytes = std::size_t{8} << 10;
  constexpr std::size_t kMaxFurtherKeyBytes = 20;
  Place place;
  std::size_t keys_bytes = 0;
  for (const Spot* at = &spot; at != nullptr; at = at->outer) {
    if (const auto* key = std::get_if<std::string_view>(&at->part)) {
      place.emplace_back(brief(*key, keys_bytes < kMaxKeysBytes ? kMaxKeyBytes : kMaxFurtherKeyBytes));
      keys_bytes += std::get<std::string>(place.back()).size();
    } else {
      place.emplace_back(std::get<std::int64_t>(at->part));
    }
  }
  std::ranges::reverse(place);
  return place;
}

void add_problem(std::vector<Problem>& problems, Problem problem) {
  if (problems.size() < kMaxProblems) {
    problems.push_back(std::move(problem));
  }
}

void add_problems(std::vector<Problem>& problems, std::vector<Problem>&& more) {
  for (Problem& problem : more) {
    add_problem(problems, std::move(problem));
  }
}

void ValueReader::refuse(Problem::Kind kind, const Spot& spot, std::vector<Problem>& problems) {
  Problem problem = problem_of(kind);
  problem.place = place_of(spot);
  problem.input = scanner_.skip_value();
  add_problem(problems, std::move(problem));
}

Value ValueReader::read(const Type& type, const Spot& spot, std::vector<Problem>& problems) {
  const JsonKind kind = scanner_.peek();
  if (type.is_optional() && kind == JsonKind::kNull) {
    scanner_.read_literal();
    return {};
  }
  switch (type.kind()) {
    case Type::Kind::kArray:
      return read_array(type.array_spec(), spot, problems);
    case Type::Kind::kList:
      return read_list(type, spot, problems);
    case Type::Kind::kDict:
      return read_dict(type, spot, problems);
    case Type::Kind::kObject:
      return {read_object(type.schema(), spot, problems)};
    case Type::Kind::kAny:
      return read_plain(spot, problems);
    default:
      return read_scalar(type, spot, problems);
  }
}

Value ValueReader::read_array(const ArraySpec& spec, const Spot& spot, std::vector<Problem>& problems) {
  if (mode_ == Arrays::kShapes) {
    return read_shape(spec, spot, problems);
  }
  const std::size_t begin = scanner_.offset();
  auto read = mode_ == Arrays::kExact ? arrays_.read_exactly(scanner_, spec) : arrays_.read(scanner_, spec);
  if (auto* array = std::get_if<Array>(&read)) {
    return {std::move(*array)};
  }
  Problem problem = problem_of(Kind::kArray);
  problem.place = place_of(spot);
  problem.input = scanner_.text_since(begin);
  problem.array = std::get<ArrayFault>(std::move(read));
  add_problem(problems, std::move(problem));
  return {};
}

Value ValueReader::read_scalar(const Type& type, const Spot& spot, std::vector<Problem>& problems) {
  const std::size_t begin = scanner_.offset();
  Value value;
  bool is_huge = false;
  switch (const JsonKind kind = scanner_.peek()) {
    case JsonKind::kTrue:
    case JsonKind::kFalse:
      scanner_.read_literal();
      value = Value(kind == JsonKind::kTrue);
      break;
    case JsonKind::kNumber: {
      const JsonNumber number = scanner_.read_number();
      is_huge = number.kind == JsonNumber::Kind::kHugeInt;
      value = value_of(number);
      break;
    }
    case JsonKind::kText:
      value = Value(scanner_.read_text());
      break;
    default:
      scanner_.skip_value();
      break;
  }
  auto problem = check_scalar(type, value, is_huge);
  if (!problem) {
    return value;
  }
  problem->place = place_of(spot);
  problem->input = scanner_.text_since(begin);
  add_problem(problems, *std::move(problem));
  return {};
}

Value ValueReader::read_list(const Type& type, const Spot& spot, std::vector<Problem>& problems) {
  if (scanner_.peek() != JsonKind::kList) {
    refuse(Kind::kListType, spot, problems);
    return {};
  }
  const std::size_t begin = scanner_.offset();
  List list;
  std::vector<Problem> found;
  // Of a list that is too long only the length is told, so the rest of it need not be read.
  const std::size_t most = type.max_length().value_or(std::numeric_limits<std::size_t>::max());
  std::size_t count = 0;
  scanner_.enter();
  for (; scanner_.next_item(); ++count) {
    if (count >= most) {
      scanner_.skip_value();
      continue;
    }
    const Spot item{&spot, static_cast<std::int64_t>(count)};
    list.push_back(read(type.element(), item, found));
  }
  auto wrong_length = count > most || found.empty() ? check_length(type, count, "List") : std::nullopt;
  if (wrong_length) {
    wrong_length->place = place_of(spot);
    wrong_length->input = scanner_.text_since(begin);
    add_problem(problems, *std::move(wrong_length));
    return {};
  }
  add_problems(problems, std::move(found));
  return {std::move(list)};
}

Value ValueReader::read_dict(const Type& type, const Spot& spot, std::vector<Problem>& problems) {
  if (scanner_.peek() != JsonKind::kObject) {
    refuse(Kind::kDictType, spot, problems);
    return {};
  }
  const std::size_t begin = scanner_.offset();
  Object dict;
  ProblemsByKey found;
  std::string_view key;
  scanner_.enter();
  while (scanner_.next_member(key)) {
    std::string name(key);
    const Spot member{&spot, std::string_view(name)};
    std::vector<Problem> own;
    check_key(name, member, own);
    Value value = read(type.element(), member, own);
    found.set(name, std::move(own));
    dict.set(std::move(name), std::move(value));
  }
  const std::size_t problems_before = problems.size();
  found.take_into(problems);
  const bool is_right = problems.size() == problems_before;
  auto wrong_length = is_right ? check_length(type, dict.size(), "Dictionary") : std::nullopt;
  if (wrong_length) {
    wrong_length->place = place_of(spot);
    wrong_length->input = scanner_.text_since(begin);
    add_problem(problems, *std::move(wrong_length));
  }
  return {std::move(dict)};
}

Value ValueReader::default_of(const Field& field) const {
  Value value = field.default_value.value_or(Value());
  if (mode_ == Arrays::kShapes) {
    drop_elements(value);
  }
  return value;
}

Object ValueReader::read_object(const Schema& schema, const Spot& spot, std::vector<Problem>& problems) {
  if (scanner_.peek() != JsonKind::kObject) {
    refuse(Kind::kModelAttributesType, spot, problems);
    return {};
  }
  const std::size_t begin = scanner_.offset();
  const std::vector<Field>& fields = schema.fields();
  std::vector<Slot> slots(fields.size());
  UnknownKeys unknown;
  ProblemsByKey unknown_problems;
  std::string_view key;
  scanner_.enter();
  while (scanner_.next_member(key)) {
    if (const auto position = schema.find_field(key)) {
      Slot& slot = slots[*position];
      slot.is_there = true;
      slot.problems.clear();
      const Spot member{&spot, std::string_view(fields[*position].name)};
      slot.value = read(fields[*position].type, member, slot.problems);
      continue;
    }
    if (schema.allows_extra_keys()) {
      UnknownKeys::Entry& entry = unknown.at(key);
      std::vector<Problem> own;
      entry.value = read_plain_member(entry.key, spot, own);
      unknown_problems.set(entry.key, std::move(own));
    } else if (unknown.is_full()) {
      scanner_.skip_value();
    } else {
      UnknownKeys::Entry& entry = unknown.at(key);
      entry.text = scanner_.skip_value();
    }
  }
  const std::string_view text = scanner_.text_since(begin);
  const std::size_t problems_before = problems.size();
  Object object;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Slot& slot = slots[i];
    if (slot.is_there) {
      add_problems(problems, std::move(slot.problems));
      object.set(fields[i].name, std::move(slot.value));
    } else if (fields[i].default_value) {
      object.set_default(fields[i].name, default_of(fields[i]));
    } else {
      Problem problem = problem_of(Kind::kMissing);
      const Spot member{&spot, std::string_view(fields[i].name)};
      problem.place = place_of(member);
      problem.input = text;
      add_problem(problems, std::move(problem));
    }
  }
  unknown_problems.take_into(problems);
  for (UnknownKeys::Entry& entry : unknown.entries()) {
    if (schema.allows_extra_keys()) {
      object.set(std::move(entry.key), std::move(entry.value));
      continue;
    }
    Problem problem = problem_of(Kind::kExtraForbidden);
    const Spot member{&spot, std::string_view(entry.key)};
    problem.place = place_of(member);
    problem.input = entry.text;
    add_problem(problems, std::move(problem));
  }
  if (problems.size() == problems_before && !schema.rules().empty() && !scanner_.has_fault()) {
    if (auto broken = broken_rule(object, schema)) {
      Problem problem = problem_of(Kind::kValueError);
      problem.place = place_of(spot);
      problem.input = text;
      problem.text = *std::move(broken);
      add_problem(problems, std::move(problem));
    }
  }
  return object;
}

}  // namespace tessera
