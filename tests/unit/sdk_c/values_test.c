// Values: made, nested, read.
#include <stdlib.h>
#include <string.h>

#include "c_check.h"
#include "tessera/tessera.h"

void test_scalars(void) {
  bool flag = false;
  int64_t whole = 0;
  uint64_t natural = 0;
  double number = 0;
  tessera_value* value = tessera_value_new_bool(true);
  CHECK(tessera_value_kind(value) == TESSERA_KIND_BOOL);
  CHECK(tessera_value_get_bool(value, &flag, NULL) == TESSERA_OK && flag);
  CHECK(tessera_value_get_int(value, &whole, NULL) == TESSERA_ERROR_WRONG_KIND);
  tessera_value_release(value);

  value = tessera_value_new_int(-3);
  CHECK(tessera_value_kind(value) == TESSERA_KIND_INT);
  CHECK(tessera_value_get_int(value, &whole, NULL) == TESSERA_OK && whole == -3);
  CHECK(tessera_value_get_double(value, &number, NULL) == TESSERA_OK && number == -3.0);
  CHECK(tessera_value_get_uint(value, &natural, NULL) == TESSERA_ERROR_WRONG_KIND);
  tessera_value_release(value);

  value = tessera_value_new_uint(UINT64_MAX);
  CHECK(tessera_value_kind(value) == TESSERA_KIND_UINT);
  CHECK(tessera_value_get_uint(value, &natural, NULL) == TESSERA_OK && natural == UINT64_MAX);
  CHECK(tessera_value_get_int(value, &whole, NULL) == TESSERA_ERROR_WRONG_KIND);
  tessera_value_release(value);

  value = tessera_value_new_double(0.5);
  CHECK(tessera_value_kind(value) == TESSERA_KIND_DOUBLE);
  CHECK(tessera_value_get_double(value, &number, NULL) == TESSERA_OK && number == 0.5);
  tessera_value_release(value);

  value = tessera_value_new_null();
  CHECK(value != NULL && tessera_value_kind(value) == TESSERA_KIND_NULL);
  tessera_value_release(value);
  CHECK(tessera_value_kind(NULL) == TESSERA_KIND_NULL);
}

void test_texts(void) {
  const char* text = NULL;
  size_t size_bytes = 0;
  tessera_value* value = tessera_value_new_text("a\0b", 3);
  CHECK(tessera_value_kind(value) == TESSERA_KIND_TEXT);
  CHECK(tessera_value_get_text(value, &text, &size_bytes, NULL) == TESSERA_OK);
  CHECK(size_bytes == 3 && memcmp(text, "a\0b", 4) == 0);
  CHECK(tessera_value_get_text(value, &text, NULL, NULL) == TESSERA_OK);
  tessera_value_release(value);

  value = tessera_value_new_text(NULL, 0);
  CHECK(tessera_value_get_text(value, &text, &size_bytes, NULL) == TESSERA_OK && size_bytes == 0);
  tessera_value_release(value);
  CHECK(tessera_value_new_text("\xff", 1) == NULL);
  CHECK(tessera_value_new_text(NULL, 1) == NULL);
}

void test_lists_and_objects(void) {
  int64_t number = 0;
  tessera_value* list = tessera_value_new_list();
  CHECK(tessera_list_append(list, tessera_value_new_int(1), NULL) == TESSERA_OK);
  CHECK(tessera_list_append(list, tessera_value_new_text("two", 3), NULL) == TESSERA_OK);
  CHECK(tessera_list_size(list) == 2);
  CHECK(tessera_value_get_int(tessera_list_at(list, 0), &number, NULL) == TESSERA_OK && number == 1);
  CHECK(tessera_list_at(list, 2) == NULL);
  CHECK(tessera_object_size(list) == 0 && tessera_object_at(list, 0) == NULL && tessera_object_find(list, "a") == NULL);

  tessera_value* object = tessera_value_new_object();
  CHECK(tessera_object_set(object, "b", tessera_value_new_int(1), NULL) == TESSERA_OK);
  CHECK(tessera_object_set(object, "a", list, NULL) == TESSERA_OK);
  CHECK(tessera_object_set(object, "b", tessera_value_new_int(2), NULL) == TESSERA_OK);
  CHECK(tessera_object_size(object) == 2 && tessera_list_size(object) == 0);
  CHECK(strcmp(tessera_object_key_at(object, 0), "b") == 0 && strcmp(tessera_object_key_at(object, 1), "a") == 0);
  CHECK(tessera_object_key_at(object, 2) == NULL);
  CHECK(tessera_value_get_int(tessera_object_find(object, "b"), &number, NULL) == TESSERA_OK && number == 2);
  CHECK(tessera_object_at(object, 1) == tessera_object_find(object, "a"));
  CHECK(tessera_object_find(object, "c") == NULL && tessera_object_find(object, NULL) == NULL);

  tessera_value* copy = tessera_value_new_copy(object);
  tessera_value_release(object);
  CHECK(tessera_list_size(tessera_object_find(copy, "a")) == 2);
  tessera_value_release(copy);
  CHECK(tessera_value_new_copy(NULL) == NULL);
}

void test_nested_building(void) {
  // What could not be made, or cannot be put there, is an error; what was given is gone in any case.
  tessera_error* error = NULL;
  tessera_value* list = tessera_value_new_list();
  CHECK(tessera_list_append(list, tessera_value_new_array(NULL), &error) == TESSERA_ERROR_INVALID_ARGUMENT);
  CHECK(error != NULL && strcmp(tessera_error_text(error), "item is NULL") == 0);
  CHECK(tessera_error_status(error) == TESSERA_ERROR_INVALID_ARGUMENT && tessera_error_http_status(error) == 0);
  CHECK(tessera_list_size(tessera_error_items(error)) == 0);
  tessera_error_release(error);
  CHECK(tessera_object_set(list, "a", tessera_value_new_int(1), &error) == TESSERA_ERROR_WRONG_KIND);
  tessera_error_release(error);
  CHECK(tessera_list_append(NULL, tessera_value_new_int(1), NULL) == TESSERA_ERROR_INVALID_ARGUMENT);
  CHECK(tessera_list_size(list) == 0);

  tessera_value* object = tessera_value_new_object();
  CHECK(tessera_object_set(object, "\xff", tessera_value_new_int(1), NULL) == TESSERA_ERROR_INVALID_ARGUMENT);
  CHECK(tessera_object_set(object, NULL, tessera_value_new_int(1), NULL) == TESSERA_ERROR_INVALID_ARGUMENT);
  CHECK(tessera_object_set(object, "list", list, &error) == TESSERA_OK && error == NULL);
  tessera_value_release(object);

  int64_t number = 7;
  CHECK(tessera_value_get_int(NULL, &number, NULL) == TESSERA_ERROR_WRONG_KIND && number == 7);
  CHECK(tessera_value_get_int(NULL, NULL, NULL) == TESSERA_ERROR_INVALID_ARGUMENT);
}

void test_null_releases(void) {
  tessera_error_release(NULL);
  tessera_value_release(NULL);
  tessera_array_release(NULL);
  tessera_client_release(NULL);
  tessera_cancellation_release(NULL);
  CHECK(strchr(tessera_version(), '.') != NULL);
}
