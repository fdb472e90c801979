// Takes every kind of input there is and hands back what it was given: a page to look types up on.
//
//   tessera run everything apply @examples/everything/example_inputs.json
//
// Each field is left out of the answer if it was not given and has no value of its own, so that a caller sees what
// arrived; `seen` says what each value was to the function.

#include <algorithm>
#include <string>

#include "tessera/tesseract/tesseract.h"

using namespace tessera;

namespace {

Schema point() {
  return Schema("Point")
      .field("label", text(), "What the point is called.")
      .field("position", array(DType::kFloat64, {3}).differentiable(), "Where the point is.")
      .field("mass", number().above(0.0), "How heavy it is.", 1.0);
}

Schema nested() {
  const Schema inner =
      Schema("Inner")
          .field("values", array(DType::kFloat64, {kFreeAxis}).differentiable(), "Numbers, two levels down.")
          .field("note", text().optional(), "A remark.", nullptr);
  return Schema("Nested")
      .field("title", text(), "A name.", "untitled")
      .field("inner", object(inner), "The level below.");
}

Schema open() {
  return Schema("Open")
      .describe("Accepts any further key.")
      .field("known", integer(), "The one key that is checked.", 0)
      .allow_extra_keys();
}

void add_arrays_of_every_dtype(Schema& schema) {
  const auto vector_of = [](DType dtype) { return array(dtype, {kFreeAxis}).optional(); };
  schema.field("f16", vector_of(DType::kFloat16), "float16", nullptr)
      .field("f32", vector_of(DType::kFloat32), "float32", nullptr)
      .field("f64", vector_of(DType::kFloat64).differentiable(), "float64", nullptr)
      .field("i8", vector_of(DType::kInt8), "int8", nullptr)
      .field("i16", vector_of(DType::kInt16), "int16", nullptr)
      .field("i32", vector_of(DType::kInt32), "int32", nullptr)
      .field("i64", vector_of(DType::kInt64), "int64", nullptr)
      .field("u8", vector_of(DType::kUInt8), "uint8", nullptr)
      .field("u16", vector_of(DType::kUInt16), "uint16", nullptr)
      .field("u32", vector_of(DType::kUInt32), "uint32", nullptr)
      .field("u64", vector_of(DType::kUInt64), "uint64", nullptr)
      .field("b1", vector_of(DType::kBool), "bool", nullptr)
      .field("c64", vector_of(DType::kComplex64), "complex64", nullptr)
      .field("c128", vector_of(DType::kComplex128), "complex128", nullptr)
      .field("any_dtype", array_of_any_dtype({kFreeAxis}).optional(), "Any dtype, kept as it comes.", nullptr);
}

void add_arrays_of_every_shape(Schema& schema) {
  schema.field("fixed", array(DType::kFloat64, {2, 3}).optional(), "Exactly two by three.", nullptr)
      .field("column", array(DType::kFloat32, {kFreeAxis, 1}).optional(), "Any number of rows, one column.", nullptr)
      .field("rows", array(DType::kFloat32, {kFreeAxis, 3}).optional(), "Any number of rows of three.", nullptr)
      .field("matrix", array(DType::kInt32, {kFreeAxis, kFreeAxis}).optional(), "Any matrix.", nullptr)
      .field("cube", array(DType::kFloat32, {2, kFreeAxis, 4}).optional(), "Three dimensions, the middle one free.",
             nullptr)
      .field("any_rank", array(DType::kFloat64).optional(), "Any rank.", nullptr)
      .field("any_array", array_of_any_dtype().optional(), "Any rank and any dtype.", nullptr);
}

// Numbers that are arrays of rank zero.
void add_scalars(Schema& schema) {
  schema.field("scalar_f32", scalar(DType::kFloat32).optional(), "A float32.", nullptr)
      .field("scalar_f64", scalar(DType::kFloat64).differentiable().optional(), "A float64.", nullptr)
      .field("scalar_i32", scalar(DType::kInt32).optional(), "An int32.", nullptr)
      .field("scalar_u16", scalar(DType::kUInt16).optional(), "A uint16.", nullptr)
      .field("scalar_bool", scalar(DType::kBool).optional(), "A bool.", nullptr)
      .field("scalar_c128", scalar(DType::kComplex128).optional(), "A complex128.", nullptr)
      .field("gain", scalar(DType::kFloat64), "A float64 with a default.", 1.5);
}

void add_plain_values(Schema& schema) {
  schema.field("text", text().optional(), "Any text.", nullptr)
      .field("code", text().min_length(2).max_length(5).pattern("^[A-Z]+$"), "Two to five capital letters.", "ABC")
      .field("count", integer().at_least(0).at_most(1000), "From 0 to 1000.", 7)
      .field("whole", integer().optional(), "Any whole number.", nullptr)
      .field("ratio", number().above(0.0).below(1.0), "Above 0, below 1.", 0.5)
      .field("number", number().optional(), "Any number.", nullptr)
      .field("flag", boolean(), "Yes or no.", false)
      .field("colour", enumeration("Colour", {"red", "green", "blue"}), "One of three colours.", "green")
      .field("mode", choice({"linear", "cubic"}), "One of two words.", "linear")
      .field("level", choice({1, 2, 3}), "One of three numbers.", 1);
}

void add_containers(Schema& schema) {
  const Type vector_of_float32 = array(DType::kFloat32, {kFreeAxis}).differentiable();
  const Type vector_of_float64 = array(DType::kFloat64, {kFreeAxis}).differentiable();
  schema.field("numbers", list_of(integer()).max_length(4).optional(), "At most four whole numbers.", nullptr)
      .field("weights", dict_of(number()).optional(), "Numbers by name.", nullptr)
      .field("arrays", list_of(vector_of_float32).optional(), "Arrays in a list.", nullptr)
      .field("fields", dict_of(vector_of_float64).optional(), "Arrays by name.", nullptr)
      .field("points", list_of(object(point())).optional(), "Points in a list.", nullptr)
      .field("nested", object(nested()).optional(), "Two levels of values.", nullptr)
      .field("open", object(open()).optional(), "A value with free keys.", nullptr);
}

Schema everything(const std::string& name) {
  Schema schema(name);
  add_arrays_of_every_dtype(schema);
  add_arrays_of_every_shape(schema);
  add_scalars(schema);
  add_plain_values(schema);
  add_containers(schema);
  return schema;
}

Schema input_schema() {
  return everything("InputSchema");
}

Schema output_schema() {
  return everything("OutputSchema").field("seen", dict_of(text()), "What each value was to the function, by path.");
}

// Notes in `seen` what values are, as Python would name it: `float32[2,3]`, `list(2)`, `dict(1)`, `enum(red)`, `int`.
class Observer {
 public:
  // The members of a model, with a path of their own each; the model itself is not listed.
  void look_at_members(const Object& object, const Schema& schema, const std::string& path) {
    for (const Field& field : schema.fields()) {
      if (const Value* value = object.find(field.name); value != nullptr) {
        look_at(*value, &field.type, join(path, field.name));
      }
    }
    for (const Object::Member& member : object.members()) {
      if (!schema.find_field(member.key).has_value()) {
        look_at(member.value, nullptr, join(path, member.key));
      }
    }
  }

  [[nodiscard]] const Object& seen() const { return seen_; }

 private:
  static std::string join(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }

  // `type` is nullptr for the value of a key that no schema names.
  void look_at(const Value& value, const Type* type, const std::string& path) {
    switch (value.kind()) {
      case Value::Kind::kNull:
        return;
      case Value::Kind::kArray:
        return note(path, describe(value.array()));
      case Value::Kind::kObject:
        return look_at_object(value.object(), type, path);
      case Value::Kind::kList:
        return look_at_list(value.list(), type, path);
      case Value::Kind::kText:
        return note(path, is_enumeration(type) ? "enum(" + value.text() + ")" : "str");
      case Value::Kind::kBool:
        return note(path, "bool");
      case Value::Kind::kDouble:
        return note(path, "float");
      case Value::Kind::kInt:
      case Value::Kind::kUInt:
        return note(path, "int");
    }
  }

  static bool is_enumeration(const Type* type) { return type != nullptr && type->kind() == Type::Kind::kEnumeration; }

  static std::string describe(const Array& array) {
    std::string text = std::string(name_of(array.dtype())) + "[";
    for (std::size_t axis = 0; axis < array.rank(); ++axis) {
      text += (axis > 0 ? "," : "") + std::to_string(array.shape()[axis]);
    }
    return text + "]";
  }

  void look_at_object(const Object& object, const Type* type, const std::string& path) {
    if (type != nullptr && type->kind() == Type::Kind::kObject) {
      return look_at_members(object, type->schema(), path);
    }
    note(path, "dict(" + std::to_string(object.size()) + ")");
    for (const Object::Member& member : object.members()) {
      look_at(member.value, type != nullptr ? &type->element() : nullptr, path + ".{" + member.key + "}");
    }
  }

  void look_at_list(const List& list, const Type* type, const std::string& path) {
    note(path, "list(" + std::to_string(list.size()) + ")");
    for (std::size_t i = 0; i < list.size(); ++i) {
      look_at(list[i], type != nullptr ? &type->element() : nullptr, path + ".[" + std::to_string(i) + "]");
    }
  }

  void note(const std::string& path, const std::string& what) { seen_.set(path, what); }

  Object seen_;
};

Object apply(const Object& inputs, Context& /*context*/) {
  static const Schema kSchema = input_schema();
  Observer observer;
  observer.look_at_members(inputs, kSchema, "");

  Object outputs;
  for (const Object::Member& member : inputs.members()) {
    if (!member.is_default || !member.value.is_null()) {
      outputs.set(member.key, member.value);
    }
  }
  outputs.set("seen", observer.seen());
  return outputs;
}

// Gradients name arrays by paths such as `f64`, `arrays.[0]`, `fields.{p}`, `nested.inner.values`; find_at() follows
// them. An array that was not given counts as zeros of the declared shape, without elements along its free axes.
Array array_or_zeros(const Object& inputs, const std::string& path) {
  static const Schema kSchema = input_schema();
  if (const Value* value = find_at(inputs, path); value != nullptr && value->is_array()) {
    return value->array();
  }
  for (const DifferentiableArray& declared : kSchema.differentiable_arrays()) {
    if (matches(declared.path_template, path)) {
      Shape shape = declared.spec.shape.value_or(Shape{});
      std::ranges::replace(shape, kFreeAxis, 0);
      return Array::zeros(declared.spec.dtype.value_or(DType::kFloat64), shape);
    }
  }
  return array_at(inputs, path);
}

Array derivative_of(const Object& inputs, const std::string& output, const std::string& input) {
  const Array rows = array_or_zeros(inputs, output);
  const Array columns = array_or_zeros(inputs, input);
  Shape shape = rows.shape();
  shape.insert(shape.end(), columns.shape().begin(), columns.shape().end());
  Array matrix = Array::zeros(rows.dtype(), shape);
  if (output != input) {
    return matrix;
  }
  const auto put_ones = [&matrix, size = static_cast<std::size_t>(rows.size())](auto one) {
    const auto elements = matrix.mutable_values<decltype(one)>();
    for (std::size_t i = 0; i < size; ++i) {
      elements[i * size + i] = one;
    }
  };
  if (rows.dtype() == DType::kFloat32) {
    put_ones(1.0F);
  } else {
    put_ones(1.0);
  }
  return matrix;
}

Object jacobian(const Object& inputs, const PathSet& jac_inputs, const PathSet& jac_outputs, Context& /*context*/) {
  Object derivatives;
  for (const std::string& output : jac_outputs) {
    Object by_input;
    for (const std::string& input : jac_inputs) {
      by_input.set(input, derivative_of(inputs, output, input));
    }
    derivatives.set(output, by_input);
  }
  return derivatives;
}

// The vector of each wanted path that has one, and zeros of the right shape for the others.
Object vectors_or_zeros(const Object& inputs, const PathSet& wanted, const Object& vectors) {
  Object answer;
  for (const std::string& path : wanted) {
    if (const Value* vector = vectors.find(path); vector != nullptr) {
      answer.set(path, *vector);
    } else {
      const Array like = array_or_zeros(inputs, path);
      answer.set(path, Array::zeros(like.dtype(), like.shape()));
    }
  }
  return answer;
}

Object jacobian_vector_product(const Object& inputs, const PathSet& /*jvp_inputs*/, const PathSet& jvp_outputs,
                               const Object& tangents, Context& /*context*/) {
  return vectors_or_zeros(inputs, jvp_outputs, tangents);
}

Object vector_jacobian_product(const Object& inputs, const PathSet& vjp_inputs, const PathSet& /*vjp_outputs*/,
                               const Object& cotangents, Context& /*context*/) {
  return vectors_or_zeros(inputs, vjp_inputs, cotangents);
}

// The value without what was filled in for the caller, at every depth.
Value given_part(const Value& value) {
  if (value.kind() == Value::Kind::kList) {
    List items;
    for (const Value& item : value.list()) {
      items.push_back(given_part(item));
    }
    return items;
  }
  if (value.kind() != Value::Kind::kObject) {
    return value;
  }
  Object given;
  for (const Object::Member& member : value.object().members()) {
    if (!member.is_default) {
      given.set(member.key, given_part(member.value));
    }
  }
  return given;
}

Object abstract_eval(const Object& inputs, Context& /*context*/) {
  Object outputs = given_part(inputs).object();
  outputs.set("seen", Object{});
  return outputs;
}

}  // namespace

TESSERA_MODULE {
  return TesseractDefinition("everything")
      .version("1.0.0")
      .inputs(input_schema())
      .outputs(output_schema())
      .takes_device_arrays()
      .apply(apply, "Returns each value it was given or has a default for, and what it saw.")
      .jacobian(jacobian, "Ones where an output element is its own input element, zeros elsewhere.")
      .jacobian_vector_product(jacobian_vector_product, "The tangent of an output is that of its own input, or zero.")
      .vector_jacobian_product(vector_jacobian_product, "The cotangent of an input is that of its own output, or zero.")
      .abstract_eval(abstract_eval, "The shape and dtype of each array it was given; other values as they are.");
}
