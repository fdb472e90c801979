// Arrays: of host memory and of DLPack tensors, read again.
#include <stdlib.h>
#include <string.h>

#include "c_check.h"
#include "tessera/sdk/dlpack.h"
#include "tessera/tessera.h"

static bool has_bytes(const void* data, const void* expected, size_t size_bytes) {
  return memcmp(data, expected, size_bytes) == 0;
}

void test_arrays(void) {
  const int64_t shape[2] = {2, 3};
  const float elements[6] = {0, 1, 2, 3, 4, 5};
  tessera_array* array = NULL;
  tessera_error* error = NULL;
  CHECK(tessera_array_copy_from(TESSERA_DTYPE_FLOAT32, 2, shape, elements, &array, &error) == TESSERA_OK);
  CHECK(tessera_array_dtype(array) == TESSERA_DTYPE_FLOAT32);
  CHECK(tessera_array_rank(array) == 2 && memcmp(tessera_array_shape(array), shape, sizeof shape) == 0);
  CHECK(tessera_array_size_bytes(array) == sizeof elements);
  CHECK(!tessera_array_is_on_device(array) && tessera_array_device_ordinal(array) == -1);
  CHECK(tessera_array_data(array) != elements);
  CHECK(has_bytes(tessera_array_data(array), elements, sizeof elements));

  tessera_array* copy = tessera_array_new_copy(array);
  CHECK(tessera_array_data(copy) == tessera_array_data(array));
  tessera_value* value = tessera_value_new_array(array);
  tessera_array_release(array);
  const tessera_array* borrowed = NULL;
  CHECK(tessera_value_kind(value) == TESSERA_KIND_ARRAY);
  CHECK(tessera_value_get_array(value, &borrowed, NULL) == TESSERA_OK);
  CHECK(tessera_array_data(borrowed) == tessera_array_data(copy));
  tessera_value_release(value);

  float target[7] = {0};
  CHECK(tessera_array_copy_to_host(copy, target, sizeof target, NULL) == TESSERA_OK);
  CHECK(has_bytes(target, elements, sizeof elements));
  tessera_array_release(copy);

  const unsigned char flags[3] = {0, 1, 255};
  const int64_t three = 3;
  CHECK(tessera_array_copy_from(TESSERA_DTYPE_BOOL, 1, &three, flags, &array, NULL) == TESSERA_OK);
  CHECK(memcmp(tessera_array_data(array), "\0\1\1", 3) == 0);
  tessera_array_release(array);

  CHECK(tessera_array_copy_from(TESSERA_DTYPE_FLOAT32, 0, NULL, elements, &array, NULL) == TESSERA_OK);
  CHECK(tessera_array_rank(array) == 0 && tessera_array_size_bytes(array) == 4);
  tessera_array_release(array);
  const int64_t empty[2] = {0, 3};
  CHECK(tessera_array_copy_from(TESSERA_DTYPE_INT8, 2, empty, NULL, &array, NULL) == TESSERA_OK);
  CHECK(tessera_array_size_bytes(array) == 0);
  CHECK(tessera_array_copy_to_host(array, NULL, 0, NULL) == TESSERA_OK);
  tessera_array_release(array);

  CHECK(strcmp(tessera_dtype_name(TESSERA_DTYPE_COMPLEX128), "complex128") == 0);
  CHECK(tessera_dtype_size_bytes(TESSERA_DTYPE_COMPLEX128) == 16);
  CHECK(tessera_dtype_name((tessera_dtype)14) == NULL && tessera_dtype_size_bytes((tessera_dtype)14) == 0);
}

void test_array_errors(void) {
  const int64_t negative = -1;
  const int64_t two = 2;
  const int64_t huge[2] = {INT64_MAX, INT64_MAX};
  double element = 0;
  tessera_array* array = NULL;
  const tessera_dtype f64 = TESSERA_DTYPE_FLOAT64;
  const tessera_status refused = TESSERA_ERROR_INVALID_ARGUMENT;
  CHECK(tessera_array_copy_from(f64, 1, &negative, &element, &array, NULL) == refused);
  CHECK(tessera_array_copy_from(f64, 2, huge, &element, &array, NULL) == refused);
  CHECK(tessera_array_copy_from(f64, 65, huge, &element, &array, NULL) == refused);
  CHECK(tessera_array_copy_from(f64, 1, NULL, &element, &array, NULL) == refused);
  CHECK(tessera_array_copy_from(f64, 1, &two, NULL, &array, NULL) == refused);
  CHECK(tessera_array_copy_from((tessera_dtype)99, 1, &two, &element, &array, NULL) == refused);
  CHECK(tessera_array_copy_from(f64, 0, NULL, &element, NULL, NULL) == refused);
  CHECK(array == NULL);

  tessera_error* error = NULL;
  CHECK(tessera_array_copy_from(f64, 0, NULL, &element, &array, &error) == TESSERA_OK && error == NULL);
  CHECK(tessera_array_copy_to_host(array, &element, 7, &error) == refused);
  CHECK(strcmp(tessera_error_text(error), "the array has 8 bytes, the target only 7") == 0);
  tessera_error_release(error);
  CHECK(tessera_array_copy_to_host(array, NULL, 8, NULL) == refused);
  tessera_array_release(array);
}

static int deletions;

static void count_deletion(struct DLManagedTensor* self) {
  (void)self;
  ++deletions;
}

void test_dlpack(void) {
  float elements[6] = {0, 1, 2, 3, 4, 5};
  int64_t shape[2] = {3, 2};
  int64_t strides[2] = {1, 3};
  DLManagedTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.dl_tensor.data = elements;
  tensor.dl_tensor.device.device_type = kDLCPU;
  tensor.dl_tensor.ndim = 2;
  tensor.dl_tensor.dtype.code = kDLFloat;
  tensor.dl_tensor.dtype.bits = 32;
  tensor.dl_tensor.dtype.lanes = 1;
  tensor.dl_tensor.shape = shape;
  tensor.deleter = count_deletion;

  tessera_array* array = NULL;
  deletions = 0;
  CHECK(tessera_array_from_dlpack(&tensor, &array, NULL) == TESSERA_OK);
  CHECK(tessera_array_data(array) == elements && deletions == 0);
  DLManagedTensor* out = NULL;
  CHECK(tessera_array_to_dlpack(array, &out, NULL) == TESSERA_OK);
  tessera_array_release(array);
  CHECK(out->dl_tensor.data == elements && deletions == 0);
  CHECK(out->dl_tensor.strides[0] == 2 && out->dl_tensor.strides[1] == 1);
  out->deleter(out);
  CHECK(deletions == 1);

  // What is not in C order is copied, and the tensor done with.
  const float transposed[6] = {0, 3, 1, 4, 2, 5};
  tensor.dl_tensor.strides = strides;
  CHECK(tessera_array_from_dlpack(&tensor, &array, NULL) == TESSERA_OK && deletions == 2);
  CHECK(has_bytes(tessera_array_data(array), transposed, sizeof transposed));
  tessera_array_release(array);
  CHECK(deletions == 2);
}

void test_dlpack_errors(void) {
  float element = 0;
  DLManagedTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.dl_tensor.data = &element;
  tensor.dl_tensor.device.device_type = kDLCPU;
  tensor.dl_tensor.dtype.code = kDLBfloat;
  tensor.dl_tensor.dtype.bits = 16;
  tensor.dl_tensor.dtype.lanes = 1;
  tensor.deleter = count_deletion;
  deletions = 0;
  tessera_array* array = NULL;
  tessera_error* error = NULL;
  CHECK(tessera_array_from_dlpack(&tensor, &array, &error) == TESSERA_ERROR_INVALID_ARGUMENT);
  CHECK(strcmp(tessera_error_text(error),
               "dlpack: elements of type bfloat of 16 bits have no counterpart in tessera") == 0);
  tessera_error_release(error);
  CHECK(tessera_array_from_dlpack(NULL, &array, NULL) == TESSERA_ERROR_INVALID_ARGUMENT);
  CHECK(tessera_array_from_dlpack(&tensor, NULL, NULL) == TESSERA_ERROR_INVALID_ARGUMENT);
  CHECK(array == NULL && deletions == 0);
}
