#include "conform.h"

#include <exception>
#include <utility>

#include "bare_array.h"
#include "problem_text.h"
#include "scalar_check.h"
#include "tessera/array/fit.h"
#include "tessera/base/utf8.h"
#include "tessera/tesseract/path.h"

namespace tessera {
namespace {

using Kind = Problem::Kind;

Misfit misfit_of(const Problem& problem) {
  return {{}, message_of(problem)};
}

Misfit misfit_of(Kind kind) {
  return misfit_of(problem_of(kind));
}

Misfit misfit_of(ArrayFault fault) {
  Problem problem = problem_of(Kind::kArray);
  problem.array = std::move(fault);
  return misfit_of(problem);
}

/// The same misfit, seen from one level further out.
Misfit inside(const std::string& step, Misfit misfit) {
  misfit.path = misfit.path.empty() ? step : step + "." + misfit.path;
  return misfit;
}

/// JSON has no way to say a key that is not UTF-8.
Misfit wrong_key(const std::string& key) {
  return inside("{" + escape_key(replaced_utf8(key)) + "}", misfit_of(Kind::kStringUnicode));
}

std::optional<Misfit> conform_list(Value& value, const Type& type, ArrayForm form) {
  if (value.kind() != Value::Kind::kList) {
    return misfit_of(Kind::kListType);
  }
  List& list = value.list();
  if (const auto problem = check_length(type, list.size(), "List")) {
    return misfit_of(*problem);
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (auto misfit = conform(list[i], type.element(), form)) {
      return inside("[" + std::to_string(i) + "]", *std::move(misfit));
    }
  }
  return std::nullopt;
}

std::optional<Misfit> conform_dict(Value& value, const Type& type, ArrayForm form) {
  if (value.kind() != Value::Kind::kObject) {
    return misfit_of(Kind::kDictType);
  }
  Object& dict = value.object();
  if (const auto problem = check_length(type, dict.size(), "Dictionary")) {
    return misfit_of(*problem);
  }
  for (const Object::Member& member : dict.members()) {
    if (!is_utf8(member.key)) {
      return wrong_key(member.key);
    }
    if (auto misfit = conform(*dict.find(member.key), type.element(), form)) {
      return inside("{" + escape_key(member.key) + "}", *std::move(misfit));
    }
  }
  return std::nullopt;
}

/// Any value is right, but arrays have no place in it.
std::optional<Misfit> check_plain(const Value& value) {
  if (value.is_array()) {
    return Misfit{{}, "Arrays must be declared as such"};
  }
  if (value.kind() == Value::Kind::kText && !is_utf8(value.text())) {
    return misfit_of(Kind::kStringUnicode);
  }
  if (value.kind() == Value::Kind::kList) {
    for (std::size_t i = 0; i < value.list().size(); ++i) {
      if (auto misfit = check_plain(value.list()[i])) {
        return inside("[" + std::to_string(i) + "]", *std::move(misfit));
      }
    }
  } else if (value.kind() == Value::Kind::kObject) {
    for (const Object::Member& member : value.object().members()) {
      if (!is_utf8(member.key)) {
        return wrong_key(member.key);
      }
      if (auto misfit = check_plain(member.value)) {
        return inside("{" + escape_key(member.key) + "}", *std::move(misfit));
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::string Misfit::text() const {
  return path.empty() ? reason : "'" + path + "': " + reason;
}

std::optional<Misfit> conform_array(Value& value, const ArraySpec& spec, ArrayForm form) {
  if (!value.is_array()) {
    auto bare = make_bare_array(value);
    if (auto* fault = std::get_if<ArrayFault>(&bare)) {
      return misfit_of(std::move(*fault));
    }
    value = Value(std::get<Array>(std::move(bare)));
  }
  if (form == ArrayForm::kShapes) {
    auto shape = make_shape(value.array().dtype(), value.array().shape(), spec);
    if (const auto* problem = std::get_if<Problem>(&shape)) {
      return misfit_of(*problem);
    }
    value = Value(std::get<Array>(std::move(shape)));
    return std::nullopt;
  }
  if (!value.array().has_data()) {
    return Misfit{{}, "The array has a shape and no elements"};
  }
  auto fitted = fit(std::move(value.array()), spec);
  if (auto* fault = std::get_if<ArrayFault>(&fitted)) {
    return misfit_of(std::move(*fault));
  }
  value = Value(std::get<Array>(std::move(fitted)));
  return std::nullopt;
}

std::optional<Misfit> conform(Value& value, const Type& type, ArrayForm form) {
  if (type.is_optional() && value.is_null()) {
    return std::nullopt;
  }
  switch (type.kind()) {
    case Type::Kind::kArray:
      return conform_array(value, type.array_spec(), form);
    case Type::Kind::kList:
      return conform_list(value, type, form);
    case Type::Kind::kDict:
      return conform_dict(value, type, form);
    case Type::Kind::kObject:
      if (value.kind() != Value::Kind::kObject) {
        return misfit_of(Kind::kModelAttributesType);
      }
      return conform(value.object(), type.schema(), form);
    case Type::Kind::kAny:
      return check_plain(value);
    default:
      if (const auto problem = check_scalar(type, value)) {
        return misfit_of(*problem);
      }
      return std::nullopt;
  }
}

std::optional<Misfit> conform(Object& object, const Schema& schema, ArrayForm form) {
  Object ordered;
  const auto move_over = [&object, &ordered](const std::string& key, Value value) {
    if (object.is_given(key)) {
      ordered.set(key, std::move(value));
    } else {
      ordered.set_default(key, std::move(value));
    }
  };
  for (const Field& field : schema.fields()) {
    Value* value = object.find(field.name);
    if (value == nullptr) {
      if (field.is_required()) {
        return inside(field.name, misfit_of(Kind::kMissing));
      }
      continue;
    }
    if (auto misfit = conform(*value, field.type, form)) {
      return inside(field.name, *std::move(misfit));
    }
    move_over(field.name, std::move(*value));
  }
  if (ordered.size() != object.size()) {
    for (const Object::Member& member : object.members()) {
      if (schema.find_field(member.key)) {
        continue;
      }
      if (!schema.allows_extra_keys()) {
        return inside(member.key, misfit_of(Kind::kExtraForbidden));
      }
      if (!is_utf8(member.key)) {
        return wrong_key(member.key);
      }
      if (auto misfit = check_plain(member.value)) {
        return inside(member.key, *std::move(misfit));
      }
      move_over(member.key, std::move(*object.find(member.key)));
    }
  }
  object = std::move(ordered);
  if (!schema.rules().empty()) {
    if (const auto broken = broken_rule(with_defaults(object, schema), schema)) {
      return Misfit{{}, "Value error, " + *broken};
    }
  }
  return std::nullopt;
}

std::optional<std::string> broken_rule(const Object& object, const Schema& schema) {
  for (const Rule& rule : schema.rules()) {
    try {
      if (auto broken = rule(object)) {
        return broken;
      }
    } catch (const std::exception& exception) {
      return exception.what();
    } catch (...) {
      return "the rule cannot be checked";
    }
  }
  return std::nullopt;
}

}  // namespace tessera
