#include "tessera/array/value.h"

#include <limits>

namespace tessera {
namespace {

constexpr std::size_t kMinIndexedSize = 17;

const char* name_of(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return "a boolean";
    case Value::Kind::kInt:
    case Value::Kind::kUInt:
      return "an integer";
    case Value::Kind::kDouble:
      return "a number";
    case Value::Kind::kText:
      return "a text";
    case Value::Kind::kList:
      return "a list";
    case Value::Kind::kObject:
      return "an object";
    case Value::Kind::kArray:
      break;
  }
  return "an array";
}

// The alternative of type T, or the error that says what is there instead of `wanted`.
template <class T, class State>
auto& get_or_throw(State& state, const char* wanted) {
  if (auto* found = std::get_if<T>(&state)) {
    return *found;
  }
  throw ValueError("value is " + std::string(name_of(static_cast<Value::Kind>(state.index()))) + ", not " + wanted);
}

}  // namespace

Value::Value(unsigned long number) {
  if (number <= static_cast<unsigned long>(std::numeric_limits<std::int64_t>::max())) {
    state_ = static_cast<std::int64_t>(number);
  } else {
    state_ = static_cast<std::uint64_t>(number);
  }
}

bool Value::is_number() const {
  return kind() == Kind::kInt || kind() == Kind::kUInt || kind() == Kind::kDouble;
}

bool Value::boolean() const {
  return get_or_throw<bool>(state_, "a boolean");
}

std::int64_t Value::integer() const {
  if (const auto* large = std::get_if<std::uint64_t>(&state_)) {
    throw ValueError("integer " + std::to_string(*large) + " does not fit into int64");
  }
  return get_or_throw<std::int64_t>(state_, "an integer");
}

std::uint64_t Value::unsigned_integer() const {
  if (const auto* large = std::get_if<std::uint64_t>(&state_)) {
    return *large;
  }
  const auto number = get_or_throw<std::int64_t>(state_, "an integer");
  if (number < 0) {
    throw ValueError("integer " + std::to_string(number) + " does not fit into uint64");
  }
  return static_cast<std::uint64_t>(number);
}

double Value::number() const {
  if (const auto* number = std::get_if<std::int64_t>(&state_)) {
    return static_cast<double>(*number);
  }
  if (const auto* number = std::get_if<std::uint64_t>(&state_)) {
    return static_cast<double>(*number);
  }
  return get_or_throw<double>(state_, "a number");
}

const std::string& Value::text() const {
  return get_or_throw<std::string>(state_, "a text");
}
const List& Value::list() const {
  return get_or_throw<List>(state_, "a list");
}
List& Value::list() {
  return get_or_throw<List>(state_, "a list");
}
const Object& Value::object() const {
  return get_or_throw<Object>(state_, "an object");
}
Object& Value::object() {
  return get_or_throw<Object>(state_, "an object");
}
const Array& Value::array() const {
  return get_or_throw<Array>(state_, "an array");
}
Array& Value::array() {
  return get_or_throw<Array>(state_, "an array");
}

Object::Object() = default;
Object::Object(Object&&) noexcept = default;
Object& Object::operator=(Object&&) noexcept = default;
Object::~Object() = default;

Object::Object(std::initializer_list<std::pair<std::string, Value>> members) {
  members_.reserve(members.size());
  for (const auto& [key, value] : members) {
    put(key, value, false);
  }
}

Object::Object(const Object& other)
    : members_(other.members_), index_(other.index_ ? std::make_unique<Index>(*other.index_) : nullptr) {}

Object& Object::operator=(const Object& other) {
  if (this != &other) {
    *this = Object(other);
  }
  return *this;
}

std::size_t Object::size() const {
  return members_.size();
}

std::size_t Object::index_of(std::string_view key) const {
  if (index_) {
    const auto found = index_->find(key);
    return found == index_->end() ? members_.size() : found->second;
  }
  std::size_t i = 0;
  while (i < members_.size() && members_[i].key != key) {
    ++i;
  }
  return i;
}

const Value* Object::find(std::string_view key) const {
  const std::size_t i = index_of(key);
  return i < members_.size() ? &members_[i].value : nullptr;
}

Value* Object::find(std::string_view key) {
  const std::size_t i = index_of(key);
  return i < members_.size() ? &members_[i].value : nullptr;
}

const Value& Object::at(std::string_view key) const {
  if (const Value* value = find(key)) {
    return *value;
  }
  throw ValueError("object has no key '" + std::string(key) + "'");
}

bool Object::is_given(std::string_view key) const {
  const std::size_t i = index_of(key);
  return i < members_.size() && !members_[i].is_default;
}

void Object::set(std::string key, Value value) {
  put(std::move(key), std::move(value), false);
}

void Object::set_default(std::string key, Value value) {
  put(std::move(key), std::move(value), true);
}

void Object::put(std::string key, Value value, bool is_default) {
  const std::size_t i = index_of(key);
  if (i < members_.size()) {
    members_[i].value = std::move(value);
    members_[i].is_default = is_default;
    return;
  }
  if (index_) {
    index_->emplace(key, i);
  }
  members_.push_back({std::move(key), std::move(value), is_default});
  if (!index_ && members_.size() >= kMinIndexedSize) {
    auto index = std::make_unique<Index>();
    for (std::size_t k = 0; k < members_.size(); ++k) {
      index->emplace(members_[k].key, k);
    }
    index_ = std::move(index);
  }
}

bool Object::remove(std::string_view key) {
  const std::size_t i = index_of(key);
  if (i == members_.size()) {
    return false;
  }
  if (index_) {
    index_->erase(index_->find(key));
    for (auto& entry : *index_) {
      entry.second -= entry.second > i ? 1 : 0;
    }
  }
  // Last, because `key` may be a view of the member itself.
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
  return true;
}

}  // namespace tessera
