// Reads values without a declared type. What no answer could hold is refused here, where it has a place: a whole number
// beyond 64 bits would become another number, and half a surrogate pair is no text.

#include <string>
#include <utility>

#include "problems_by_key.h"
#include "scalar_check.h"
#include "tessera/base/utf8.h"
#include "value_reader.h"

namespace tessera {
namespace {

using Kind = Problem::Kind;

}  // namespace

Value ValueReader::read_plain(const Spot& spot, std::vector<Problem>& problems) {
  const JsonKind kind = scanner_.peek();
  switch (kind) {
    case JsonKind::kTrue:
    case JsonKind::kFalse:
      scanner_.read_literal();
      return {kind == JsonKind::kTrue};
    case JsonKind::kNumber:
    case JsonKind::kText:
      return read_plain_scalar(kind, spot, problems);
    case JsonKind::kList: {
      List list;
      scanner_.enter();
      while (scanner_.next_item()) {
        const Spot item{&spot, static_cast<std::int64_t>(list.size())};
        list.push_back(read_plain(item, problems));
      }
      return {std::move(list)};
    }
    case JsonKind::kObject: {
      Object object;
      ProblemsByKey found;
      std::string_view key;
      scanner_.enter();
      while (scanner_.next_member(key)) {
        std::string name(key);
        std::vector<Problem> own;
        Value value = read_plain_member(name, spot, own);
        found.set(name, std::move(own));
        object.set(std::move(name), std::move(value));
      }
      found.take_into(problems);
      return {std::move(object)};
    }
    default:
      scanner_.skip_value();
      return {};
  }
}

Value ValueReader::read_plain_scalar(JsonKind kind, const Spot& spot, std::vector<Problem>& problems) {
  const std::size_t begin = scanner_.offset();
  Value value;
  bool is_right = true;
  if (kind == JsonKind::kNumber) {
    const JsonNumber number = scanner_.read_number();
    is_right = number.kind != JsonNumber::Kind::kHugeInt;
    value = value_of(number);
  } else {
    value = Value(scanner_.read_text());
    is_right = is_utf8(value.text());
  }
  if (is_right) {
    return value;
  }
  Problem problem = problem_of(kind == JsonKind::kNumber ? Kind::kIntParsingSize : Kind::kStringUnicode);
  problem.place = place_of(spot);
  problem.input = scanner_.text_since(begin);
  add_problem(problems, std::move(problem));
  return {};
}

Value ValueReader::read_plain_member(const std::string& key, const Spot& spot, std::vector<Problem>& problems) {
  const Spot member{&spot, std::string_view(key)};
  check_key(key, member, problems);
  return read_plain(member, problems);
}

void ValueReader::check_key(const std::string& key, const Spot& member, std::vector<Problem>& problems) {
  if (is_utf8(key)) {
    return;
  }
  const Spot spot{&member, std::string_view("[key]")};
  Problem problem = problem_of(Kind::kStringUnicode);
  problem.place = place_of(spot);
  problem.input_text = key;
  problem.input_is_text = true;
  add_problem(problems, std::move(problem));
}

}  // namespace tessera
