#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "c_handles.h"
#include "tessera/base/utf8.h"

namespace {

using tessera::guarded;
using tessera::handle_of;
using tessera::Object;
using tessera::require_argument;
using tessera::require_value;
using tessera::Value;
using tessera::value_of;
using Kind = tessera::Value::Kind;

// A new value; NULL if there is no memory.
template <class T>
tessera_value* made(T&& content) {
  return tessera::guarded_or_nothing([&] { return tessera::new_handle(Value(std::forward<T>(content))); });
}

const tessera::List* list_in(const tessera_value* handle) {
  const Value* const value = value_of(handle);
  return value != nullptr && value->kind() == Kind::kList ? &value->list() : nullptr;
}

const Object* object_in(const tessera_value* handle) {
  const Value* const value = value_of(handle);
  return value != nullptr && value->kind() == Kind::kObject ? &value->object() : nullptr;
}

const Object::Member* member_in(const tessera_value* handle, size_t index) {
  const Object* const object = object_in(handle);
  return object != nullptr && index < object->size() ? &object->members()[index] : nullptr;
}

}  // namespace

static_assert(static_cast<int>(Kind::kNull) == TESSERA_KIND_NULL);
static_assert(static_cast<int>(Kind::kBool) == TESSERA_KIND_BOOL);
static_assert(static_cast<int>(Kind::kInt) == TESSERA_KIND_INT);
static_assert(static_cast<int>(Kind::kUInt) == TESSERA_KIND_UINT);
static_assert(static_cast<int>(Kind::kDouble) == TESSERA_KIND_DOUBLE);
static_assert(static_cast<int>(Kind::kText) == TESSERA_KIND_TEXT);
static_assert(static_cast<int>(Kind::kList) == TESSERA_KIND_LIST);
static_assert(static_cast<int>(Kind::kObject) == TESSERA_KIND_OBJECT);
static_assert(static_cast<int>(Kind::kArray) == TESSERA_KIND_ARRAY);

tessera_value* tessera_value_new_null() {
  return made(nullptr);
}

tessera_value* tessera_value_new_bool(bool flag) {
  return made(flag);
}

tessera_value* tessera_value_new_int(int64_t number) {
  return made(number);
}

tessera_value* tessera_value_new_uint(uint64_t number) {
  return made(number);
}

tessera_value* tessera_value_new_double(double number) {
  return made(number);
}

tessera_value* tessera_value_new_text(const char* text, size_t size_bytes) {
  if (text == nullptr && size_bytes != 0) {
    return nullptr;
  }
  const std::string_view view(text, size_bytes);
  return tessera::is_utf8(view) ? made(view) : nullptr;
}

tessera_value* tessera_value_new_list() {
  return made(tessera::List());
}

tessera_value* tessera_value_new_object() {
  return tessera::guarded_or_nothing([] { return tessera::new_handle(Object()); });
}

tessera_value* tessera_value_new_array(const tessera_array* array) {
  return array == nullptr ? nullptr : made(*tessera::array_of(array));
}

tessera_value* tessera_value_new_copy(const tessera_value* value) {
  return value == nullptr ? nullptr : made(*value_of(value));
}

tessera_status tessera_list_append(tessera_value* list, tessera_value* item, tessera_error** error) {
  const std::unique_ptr<Value> taken(value_of(item));
  return guarded(error, [&] {
    require_argument(item, "item");
    require_argument(list, "list");
    value_of(list)->list().push_back(std::move(*taken));
  });
}

tessera_status tessera_object_set(tessera_value* object, const char* key, tessera_value* member,
                                  tessera_error** error) {
  const std::unique_ptr<Value> taken(value_of(member));
  return guarded(error, [&] {
    require_argument(member, "member");
    require_argument(object, "object");
    require_argument(key, "key");
    if (!tessera::is_utf8(key)) {
      throw std::invalid_argument("the key is not UTF-8");
    }
    value_of(object)->object().set(key, std::move(*taken));
  });
}

tessera_kind tessera_value_kind(const tessera_value* value) {
  return value == nullptr ? TESSERA_KIND_NULL : static_cast<tessera_kind>(value_of(value)->kind());
}

tessera_status tessera_value_get_bool(const tessera_value* value, bool* flag, tessera_error** error) {
  return guarded(error, [&] {
    require_argument(flag, "flag");
    *flag = require_value(value).boolean();
  });
}

tessera_status tessera_value_get_int(const tessera_value* value, int64_t* number, tessera_error** error) {
  return guarded(error, [&] {
    require_argument(number, "number");
    *number = require_value(value).integer();
  });
}

tessera_status tessera_value_get_uint(const tessera_value* value, uint64_t* number, tessera_error** error) {
  return guarded(error, [&] {
    require_argument(number, "number");
    *number = require_value(value).unsigned_integer();
  });
}

tessera_status tessera_value_get_double(const tessera_value* value, double* number, tessera_error** error) {
  return guarded(error, [&] {
    require_argument(number, "number");
    *number = require_value(value).number();
  });
}

tessera_status tessera_value_get_text(const tessera_value* value, const char** text, size_t* size_bytes,
                                      tessera_error** error) {
  return guarded(error, [&] {
    require_argument(text, "text");
    const std::string& whole = require_value(value).text();
    *text = whole.c_str();
    if (size_bytes != nullptr) {
      *size_bytes = whole.size();
    }
  });
}

tessera_status tessera_value_get_array(const tessera_value* value, const tessera_array** array, tessera_error** error) {
  return guarded(error, [&] {
    require_argument(array, "array");
    *array = handle_of(require_value(value).array());
  });
}

size_t tessera_list_size(const tessera_value* list) {
  const tessera::List* const items = list_in(list);
  return items == nullptr ? 0 : items->size();
}

size_t tessera_object_size(const tessera_value* object) {
  const Object* const members = object_in(object);
  return members == nullptr ? 0 : members->size();
}

const tessera_value* tessera_list_at(const tessera_value* list, size_t index) {
  const tessera::List* const items = list_in(list);
  return items != nullptr && index < items->size() ? handle_of((*items)[index]) : nullptr;
}

const tessera_value* tessera_object_find(const tessera_value* object, const char* key) {
  const Object* const members = object_in(object);
  const Value* const found = members == nullptr || key == nullptr ? nullptr : members->find(key);
  return found == nullptr ? nullptr : handle_of(*found);
}

const tessera_value* tessera_object_at(const tessera_value* object, size_t index) {
  const Object::Member* const member = member_in(object, index);
  return member == nullptr ? nullptr : handle_of(member->value);
}

const char* tessera_object_key_at(const tessera_value* object, size_t index) {
  const Object::Member* const member = member_in(object, index);
  return member == nullptr ? nullptr : member->key.c_str();
}

void tessera_value_release(tessera_value* value) {
  delete value_of(value);
}
