#include "bare_array.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace tessera {
namespace {

ArrayFault fault_of(ArrayFault::Kind kind) {
  ArrayFault fault;
  fault.kind = kind;
  return fault;
}

/// Gathers the numbers of nested lists in order, with the shape that the first of each list has.
class Gatherer {
 public:
  explicit Gatherer(const Value& value) {
    for (const Value* level = &value; level->kind() == Value::Kind::kList; level = &level->list().front()) {
      shape_.push_back(static_cast<std::int64_t>(level->list().size()));
      if (level->list().empty()) {
        break;
      }
    }
    gather(value, 0);
  }

  [[nodiscard]] const std::optional<ArrayFault>& fault() const { return fault_; }
  [[nodiscard]] Array array() const {
    const bool is_bool = !leaves_.empty() && is_all({Value::Kind::kBool});
    const bool is_signed = !leaves_.empty() && is_all({Value::Kind::kBool, Value::Kind::kInt});
    if (is_bool) {
      return filled<bool>([](const Value& leaf) { return leaf.boolean(); });
    }
    if (is_signed) {
      return filled<std::int64_t>([](const Value& leaf) {
        return leaf.kind() == Value::Kind::kBool ? static_cast<std::int64_t>(leaf.boolean()) : leaf.integer();
      });
    }
    if (!leaves_.empty() && is_unsigned()) {
      return filled<std::uint64_t>([](const Value& leaf) {
        return leaf.kind() == Value::Kind::kBool ? static_cast<std::uint64_t>(leaf.boolean()) : leaf.unsigned_integer();
      });
    }
    return filled<double>([](const Value& leaf) {
      return leaf.kind() == Value::Kind::kBool ? static_cast<double>(leaf.boolean()) : leaf.number();
    });
  }

 private:
  void gather(const Value& value, std::size_t level) {
    if (fault_) {
      return;
    }
    if (value.kind() == Value::Kind::kList) {
      if (level >= shape_.size() || static_cast<std::int64_t>(value.list().size()) != shape_[level]) {
        fault_ = fault_of(ArrayFault::Kind::kRagged);
        fault_->reason = "rows of different length do not make an array";
        return;
      }
      for (const Value& item : value.list()) {
        gather(item, level + 1);
      }
    } else if (!value.is_number() && value.kind() != Value::Kind::kBool) {
      fault_ = fault_of(ArrayFault::Kind::kNonNumeric);
    } else if (level != shape_.size()) {
      fault_ = fault_of(ArrayFault::Kind::kRagged);
      fault_->reason = "numbers and lists side by side do not make an array";
    } else {
      leaves_.push_back(&value);
    }
  }

  [[nodiscard]] bool is_all(std::initializer_list<Value::Kind> kinds) const {
    return std::ranges::all_of(
        leaves_, [kinds](const Value* leaf) { return std::ranges::find(kinds, leaf->kind()) != kinds.end(); });
  }
  [[nodiscard]] bool is_unsigned() const {
    return std::ranges::all_of(leaves_, [](const Value* leaf) {
      return leaf->kind() == Value::Kind::kBool || leaf->kind() == Value::Kind::kUInt ||
             (leaf->kind() == Value::Kind::kInt && leaf->integer() >= 0);
    });
  }

  template <class T, class Function>
  [[nodiscard]] Array filled(Function element_of) const {
    Array array = Array::allocate(kDTypeOf<T>, shape_);
    const auto elements = array.mutable_values<T>();
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      elements[i] = element_of(*leaves_[i]);
    }
    return array;
  }

  Shape shape_;
  std::vector<const Value*> leaves_;
  std::optional<ArrayFault> fault_;
};

}  // namespace

std::variant<Array, ArrayFault> make_bare_array(const Value& value) {
  const Gatherer gatherer(value);
  if (const auto& fault = gatherer.fault()) {
    return *fault;
  }
  return gatherer.array();
}

}  // namespace tessera
