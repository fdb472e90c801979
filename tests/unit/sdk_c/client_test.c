// Clients: every endpoint of a running daemon, and what goes wrong.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_check.h"
#include "tessera/sdk/dlpack.h"
#include "tessera/tessera.h"

// A client of one Tesseract of the daemon.
static tessera_client* connect_to(const char* url, const char* name) {
  char address[256];
  tessera_client* client = NULL;
  snprintf(address, sizeof address, "%s/%s", url, name);
  CHECK(tessera_client_connect(address, NULL, &client, NULL) == TESSERA_OK);
  return client;
}

static tessera_value* vector_of(tessera_dtype dtype, int64_t size, const void* elements) {
  tessera_array* array = NULL;
  CHECK(tessera_array_copy_from(dtype, 1, &size, elements, &array, NULL) == TESSERA_OK);
  tessera_value* value = tessera_value_new_array(array);
  tessera_array_release(array);
  return value;
}

// {"a": [1, 2], "b": [10, 20]}
static tessera_value* two_vectors(void) {
  const double a[2] = {1, 2};
  const double b[2] = {10, 20};
  tessera_value* inputs = tessera_value_new_object();
  CHECK(tessera_object_set(inputs, "a", vector_of(TESSERA_DTYPE_FLOAT64, 2, a), NULL) == TESSERA_OK);
  CHECK(tessera_object_set(inputs, "b", vector_of(TESSERA_DTYPE_FLOAT64, 2, b), NULL) == TESSERA_OK);
  return inputs;
}

// Whether a value is a float64 array of these elements.
static bool holds(const tessera_value* value, size_t count, const double* elements) {
  const tessera_array* array = NULL;
  return tessera_value_get_array(value, &array, NULL) == TESSERA_OK &&
         tessera_array_dtype(array) == TESSERA_DTYPE_FLOAT64 &&
         tessera_array_size_bytes(array) == count * sizeof(double) &&
         memcmp(tessera_array_data(array), elements, count * sizeof(double)) == 0;
}

static bool is_text(const tessera_value* value, const char* expected) {
  const char* text = NULL;
  return tessera_value_get_text(value, &text, NULL, NULL) == TESSERA_OK && strcmp(text, expected) == 0;
}

static bool lists(const tessera_value* list, const char* text) {
  for (size_t i = 0; i != tessera_list_size(list); ++i) {
    if (is_text(tessera_list_at(list, i), text)) {
      return true;
    }
  }
  return false;
}

static void check_sum(const tessera_client* client) {
  const double sum[2] = {11, 22};
  tessera_value* inputs = two_vectors();
  tessera_value* result = NULL;
  tessera_error* error = NULL;
  CHECK(tessera_client_apply(client, inputs, NULL, &result, &error) == TESSERA_OK && error == NULL);
  CHECK(holds(tessera_object_find(result, "result"), 2, sum));
  tessera_value_release(result);
  tessera_value_release(inputs);
}

void test_apply(const char* url) {
  tessera_client* client = connect_to(url, "vectoradd");
  check_sum(client);
  CHECK(strstr(tessera_client_url(client), "/vectoradd") != NULL);
  tessera_client_close(client);
  check_sum(client);
  tessera_client_release(client);
}

void test_unix_socket(const char* socket) {
  char address[256];
  tessera_client* client = NULL;
  snprintf(address, sizeof address, "unix:%s:/vectoradd", socket);
  CHECK(tessera_client_connect(address, NULL, &client, NULL) == TESSERA_OK);
  check_sum(client);
  tessera_client_release(client);
}

void test_gradients(const char* url) {
  const double identity[4] = {1, 0, 0, 1};
  const double ones[2] = {1, 1};
  const char* const inputs_named[1] = {"a"};
  const char* const outputs_named[1] = {"result"};
  tessera_client* client = connect_to(url, "vectoradd");
  tessera_value* inputs = two_vectors();
  tessera_value* result = NULL;
  CHECK(tessera_client_jacobian(client, inputs, inputs_named, 1, outputs_named, 1, NULL, &result, NULL) == TESSERA_OK);
  CHECK(holds(tessera_object_find(tessera_object_find(result, "result"), "a"), 4, identity));
  tessera_value_release(result);

  tessera_value* vector = tessera_value_new_object();
  CHECK(tessera_object_set(vector, "a", vector_of(TESSERA_DTYPE_FLOAT64, 2, ones), NULL) == TESSERA_OK);
  CHECK(tessera_client_jacobian_vector_product(client, inputs, inputs_named, 1, outputs_named, 1, vector, NULL, &result,
                                               NULL) == TESSERA_OK);
  CHECK(holds(tessera_object_find(result, "result"), 2, ones));
  tessera_value_release(result);
  tessera_value_release(vector);

  vector = tessera_value_new_object();
  CHECK(tessera_object_set(vector, "result", vector_of(TESSERA_DTYPE_FLOAT64, 2, ones), NULL) == TESSERA_OK);
  CHECK(tessera_client_vector_jacobian_product(client, inputs, inputs_named, 1, outputs_named, 1, vector, NULL, &result,
                                               NULL) == TESSERA_OK);
  CHECK(holds(tessera_object_find(result, "a"), 2, ones));
  tessera_value_release(result);
  tessera_value_release(vector);

  CHECK(tessera_client_jacobian(client, inputs, NULL, 1, outputs_named, 1, NULL, &result, NULL) ==
        TESSERA_ERROR_INVALID_ARGUMENT);
  tessera_value_release(inputs);
  tessera_client_release(client);
}

void test_plain_endpoints(const char* url) {
  tessera_client* client = connect_to(url, "vectoradd");
  tessera_value* result = NULL;
  CHECK(tessera_client_health(client, NULL, &result, NULL) == TESSERA_OK);
  CHECK(is_text(tessera_object_find(result, "status"), "ok"));
  tessera_value_release(result);

  tessera_value* inputs = tessera_value_new_object();
  for (const char* name = "ab"; *name != '\0'; ++name) {
    const char key[2] = {*name, '\0'};
    tessera_value* shape = tessera_value_new_list();
    CHECK(tessera_list_append(shape, tessera_value_new_int(4), NULL) == TESSERA_OK);
    tessera_value* array = tessera_value_new_object();
    CHECK(tessera_object_set(array, "shape", shape, NULL) == TESSERA_OK);
    CHECK(tessera_object_set(array, "dtype", tessera_value_new_text("float64", 7), NULL) == TESSERA_OK);
    CHECK(tessera_object_set(inputs, key, array, NULL) == TESSERA_OK);
  }
  int64_t size = 0;
  CHECK(tessera_client_abstract_eval(client, inputs, NULL, &result, NULL) == TESSERA_OK);
  const tessera_value* const shape = tessera_object_find(tessera_object_find(result, "result"), "shape");
  CHECK(tessera_value_get_int(tessera_list_at(shape, 0), &size, NULL) == TESSERA_OK && size == 4);
  tessera_value_release(result);
  tessera_value_release(inputs);

  // The daemon of the test runs with --debug.
  tessera_error* error = NULL;
  tessera_value* spec = tessera_value_new_object();
  CHECK(tessera_object_set(spec, "endpoint", tessera_value_new_text("apply", 5), NULL) == TESSERA_OK);
  tessera_value* payload = tessera_value_new_object();
  CHECK(tessera_object_set(payload, "inputs", two_vectors(), NULL) == TESSERA_OK);
  CHECK(tessera_object_set(spec, "payload", payload, NULL) == TESSERA_OK);
  const double wrong[2] = {0, 0};
  tessera_value* expected = tessera_value_new_object();
  CHECK(tessera_object_set(expected, "result", vector_of(TESSERA_DTYPE_FLOAT64, 2, wrong), NULL) == TESSERA_OK);
  CHECK(tessera_object_set(spec, "expected_outputs", expected, NULL) == TESSERA_OK);
  CHECK(tessera_client_test(client, spec, NULL, &error) == TESSERA_ERROR_TEST_FAILED);
  CHECK(error != NULL && strlen(tessera_error_text(error)) > 0);
  tessera_error_release(error);
  const double right[2] = {11, 22};
  expected = tessera_value_new_object();
  CHECK(tessera_object_set(expected, "result", vector_of(TESSERA_DTYPE_FLOAT64, 2, right), NULL) == TESSERA_OK);
  CHECK(tessera_object_set(spec, "expected_outputs", expected, NULL) == TESSERA_OK);
  CHECK(tessera_client_test(client, spec, NULL, NULL) == TESSERA_OK);
  tessera_value_release(spec);
  tessera_client_release(client);
}

void test_documents(const char* url) {
  tessera_client* client = connect_to(url, "vectoradd");
  tessera_value* value = NULL;
  CHECK(tessera_client_available_endpoints(client, &value, NULL) == TESSERA_OK);
  CHECK(lists(value, "apply") && lists(value, "jacobian"));
  tessera_value_release(value);
  CHECK(tessera_client_server_capabilities(client, &value, NULL) == TESSERA_OK);
  CHECK(lists(tessera_object_find(value, "output_formats"), "json+base64"));
  CHECK(lists(tessera_object_find(value, "gpu_transports"), "cuda_ipc"));
  CHECK(lists(tessera_object_find(value, "compressions"), "lz4"));
  tessera_value_release(value);

  const tessera_value* schema = NULL;
  CHECK(tessera_client_input_schema(client, &schema, NULL) == TESSERA_OK);
  CHECK(tessera_object_find(tessera_object_find(schema, "properties"), "a") != NULL);
  CHECK(tessera_client_output_schema(client, &schema, NULL) == TESSERA_OK);
  CHECK(tessera_object_find(tessera_object_find(schema, "properties"), "result") != NULL);
  CHECK(tessera_client_openapi_schema(client, &schema, NULL) == TESSERA_OK);
  CHECK(tessera_object_find(schema, "openapi") != NULL);
  tessera_client_release(client);
}

void test_encodings(const char* url) {
  const char* const formats[2] = {"json", "json+base64"};
  tessera_client* client = connect_to(url, "vectoradd");
  for (size_t i = 0; i != 2; ++i) {
    tessera_client* view = NULL;
    CHECK(tessera_client_with_encoding(client, formats[i], NULL, i == 0 ? NULL : "lz4", &view, NULL) == TESSERA_OK);
    check_sum(view);
    tessera_client_release(view);
  }
  tessera_client* view = NULL;
  tessera_error* error = NULL;
  CHECK(tessera_client_with_encoding(client, "xml", NULL, NULL, &view, &error) == TESSERA_ERROR_INVALID_ARGUMENT);
  CHECK(view == NULL && strstr(tessera_error_text(error), "xml") != NULL);
  tessera_error_release(error);
  tessera_client_release(client);
}

void test_files(const char* url, const char* input_path, const char* output_path) {
  char address[256];
  snprintf(address, sizeof address, "%s/vectoradd", url);
  tessera_client_options options;
  memset(&options, 0, sizeof options);
  options.struct_size_bytes = sizeof options;
  options.server_input_path = input_path;
  options.server_output_path = output_path;
  tessera_client* client = NULL;
  tessera_client* view = NULL;
  CHECK(tessera_client_connect(address, &options, &client, NULL) == TESSERA_OK);
  CHECK(tessera_client_with_encoding(client, "json+binref", NULL, NULL, &view, NULL) == TESSERA_OK);
  tessera_client_release(client);
  check_sum(view);
  tessera_client_release(view);
  options.server_output_path = "/nowhere/at/all";
  CHECK(tessera_client_connect(address, &options, &client, NULL) == TESSERA_ERROR_INVALID_ARGUMENT);
}

void test_refusals(const char* url) {
  tessera_client* client = connect_to(url, "vectoradd");
  tessera_value* inputs = two_vectors();
  CHECK(tessera_object_set(inputs, "a", tessera_value_new_text("no", 2), NULL) == TESSERA_OK);
  tessera_value* result = NULL;
  tessera_error* error = NULL;
  CHECK(tessera_client_apply(client, inputs, NULL, &result, &error) == TESSERA_ERROR_REFUSED);
  CHECK(result == NULL && tessera_error_http_status(error) == 422);
  const tessera_value* const item = tessera_list_at(tessera_error_items(error), 0);
  CHECK(tessera_value_kind(tessera_object_find(item, "type")) == TESSERA_KIND_TEXT);
  CHECK(tessera_value_kind(tessera_object_find(item, "msg")) == TESSERA_KIND_TEXT);
  CHECK(lists(tessera_object_find(item, "loc"), "a"));
  tessera_error_release(error);
  tessera_value_release(inputs);
  tessera_client_release(client);
}

void test_client_errors(const char* url) {
  tessera_client* client = NULL;
  tessera_value* result = NULL;
  tessera_error* error = NULL;
  CHECK(tessera_client_connect("ftp://x", NULL, &client, &error) == TESSERA_ERROR_INVALID_ARGUMENT && client == NULL);
  tessera_error_release(error);
  CHECK(tessera_client_connect(NULL, NULL, &client, NULL) == TESSERA_ERROR_INVALID_ARGUMENT);
  CHECK(tessera_client_connect(url, NULL, NULL, NULL) == TESSERA_ERROR_INVALID_ARGUMENT);
  CHECK(tessera_client_health(NULL, NULL, &result, NULL) == TESSERA_ERROR_INVALID_ARGUMENT);

  CHECK(tessera_client_connect("unix:/nowhere/tessera.sock", NULL, &client, NULL) == TESSERA_OK);
  CHECK(tessera_client_health(client, NULL, &result, &error) == TESSERA_ERROR_CONNECTION);
  CHECK(strstr(tessera_error_text(error), "/nowhere/tessera.sock") != NULL);
  tessera_error_release(error);
  tessera_client_release(client);

  client = connect_to(url, "nothing");
  CHECK(tessera_client_health(client, NULL, &result, &error) == TESSERA_ERROR_HTTP_STATUS);
  CHECK(tessera_error_http_status(error) == 404);
  tessera_error_release(error);
  tessera_client_release(client);

  client = connect_to(url, "everything");
  tessera_value* list = tessera_value_new_list();
  CHECK(tessera_client_apply(client, list, NULL, &result, NULL) == TESSERA_ERROR_WRONG_KIND);
  CHECK(tessera_client_apply(client, NULL, NULL, &result, NULL) == TESSERA_ERROR_INVALID_ARGUMENT);
  CHECK(tessera_client_apply(client, list, NULL, NULL, NULL) == TESSERA_ERROR_INVALID_ARGUMENT);
  CHECK(result == NULL);
  tessera_value_release(list);
  tessera_client_release(client);
}

void test_options(const char* url) {
  struct {
    tessera_client_options known;
    uint64_t later;
  } grown;
  memset(&grown, 0, sizeof grown);
  tessera_client* client = NULL;
  tessera_error* error = NULL;
  CHECK(tessera_client_connect(url, &grown.known, &client, NULL) == TESSERA_ERROR_INVALID_ARGUMENT);
  grown.known.struct_size_bytes = sizeof grown;
  grown.known.connect_timeout_ms = 60000;
  grown.known.total_timeout_ms = UINT64_MAX;
  CHECK(tessera_client_connect(url, &grown.known, &client, NULL) == TESSERA_OK);
  tessera_client_release(client);
  client = NULL;
  grown.later = 1;
  CHECK(tessera_client_connect(url, &grown.known, &client, &error) == TESSERA_ERROR_INVALID_ARGUMENT && client == NULL);
  CHECK(strstr(tessera_error_text(error), "does not have") != NULL);
  tessera_error_release(error);
  grown.known.struct_size_bytes = sizeof grown.known;
  grown.known.max_response_bytes = 1;
  CHECK(tessera_client_connect(url, &grown.known, &client, NULL) == TESSERA_OK);
  const tessera_value* schema = NULL;
  CHECK(tessera_client_openapi_schema(client, &schema, NULL) == TESSERA_ERROR_BAD_RESPONSE);
  tessera_client_release(client);
}

// A program that was compiled before `progress` was there.
void test_shorter_options(const char* url) {
  tessera_client_options options;
  memset(&options, 0xff, sizeof options);  // what lies behind its struct is something else
  memset(&options, 0, offsetof(tessera_client_options, progress));
  options.struct_size_bytes = offsetof(tessera_client_options, progress);
  tessera_client* client = NULL;
  tessera_value* result = NULL;
  CHECK(tessera_client_connect(url, &options, &client, NULL) == TESSERA_OK);
  CHECK(tessera_client_health(client, NULL, &result, NULL) == TESSERA_OK);
  tessera_value_release(result);
  tessera_client_release(client);
}

typedef struct ProgressSeen {
  uint64_t calls;
  uint64_t ends;
  uint64_t last_done;
  uint64_t last_total;
} ProgressSeen;

static void see_progress(uint64_t done_bytes, uint64_t total_bytes, void* progress_context) {
  ProgressSeen* const seen = progress_context;
  ++seen->calls;
  seen->ends += done_bytes == total_bytes;
  seen->last_done = done_bytes;
  seen->last_total = total_bytes;
}

static void send_zeros(const tessera_client* client, int64_t size) {
  float* const zeros = calloc((size_t)size, sizeof *zeros);
  tessera_value* inputs = tessera_value_new_object();
  tessera_value* result = NULL;
  CHECK(tessera_object_set(inputs, "x", vector_of(TESSERA_DTYPE_FLOAT32, size, zeros), NULL) == TESSERA_OK);
  CHECK(tessera_client_apply(client, inputs, NULL, &result, NULL) == TESSERA_OK);
  tessera_value_release(result);
  tessera_value_release(inputs);
  free(zeros);
}

void test_progress(const char* url) {
  char address[256];
  snprintf(address, sizeof address, "%s/identity", url);
  ProgressSeen seen = {0, 0, 0, 0};
  tessera_client_options options;
  memset(&options, 0, sizeof options);
  options.struct_size_bytes = sizeof options;
  options.progress = see_progress;
  options.progress_context = &seen;
  tessera_client* client = NULL;
  tessera_client* base64 = NULL;
  CHECK(tessera_client_connect(address, &options, &client, NULL) == TESSERA_OK);
  CHECK(tessera_client_with_encoding(client, "json+base64", NULL, NULL, &base64, NULL) == TESSERA_OK);
  tessera_client_release(client);
  send_zeros(base64, 2000000);  // 64 MiB are more
  CHECK(seen.calls == 0);
  tessera_client_release(base64);

  options.progress_from_bytes = 1000000;
  CHECK(tessera_client_connect(address, &options, &client, NULL) == TESSERA_OK);
  CHECK(tessera_client_with_encoding(client, "json+base64", NULL, NULL, &base64, NULL) == TESSERA_OK);
  tessera_client_release(client);
  send_zeros(base64, 1000);
  CHECK(seen.calls == 0);
  send_zeros(base64, 2000000);
  CHECK(seen.calls >= 2 && seen.ends == 2);  // there, and back
  CHECK(seen.last_done == seen.last_total && seen.last_total > 8000000);
  tessera_client_release(base64);
}

void test_cancellation(const char* url) {
  tessera_client* client = connect_to(url, "vectoradd");
  tessera_call_options options;
  memset(&options, 0, sizeof options);
  options.struct_size_bytes = sizeof options;
  tessera_cancellation* cancellation = NULL;
  tessera_value* result = NULL;
  CHECK(tessera_cancellation_new(&cancellation, NULL) == TESSERA_OK);
  options.cancellation = cancellation;
  CHECK(tessera_client_health(client, &options, &result, NULL) == TESSERA_OK);
  tessera_value_release(result);
  result = NULL;
  tessera_cancellation_cancel(cancellation);
  CHECK(tessera_client_health(client, &options, &result, NULL) == TESSERA_ERROR_CANCELLED && result == NULL);
  tessera_cancellation_release(cancellation);
  tessera_client_release(client);
}

static void count_call(struct DLManagedTensor* self) {
  ++*(int*)self->manager_ctx;
}

void test_idle_time(const char* url, uint64_t address, uint64_t exports_idle_ms, void (*meanwhile)(void)) {
  char text[256];
  int64_t shape[1] = {6};
  int deleted = 0;
  DLManagedTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.dl_tensor.data = (void*)(uintptr_t)address;  // NOLINT(performance-no-int-to-ptr)
  tensor.dl_tensor.device.device_type = kDLCUDA;
  tensor.dl_tensor.ndim = 1;
  tensor.dl_tensor.dtype.code = kDLFloat;
  tensor.dl_tensor.dtype.bits = 32;
  tensor.dl_tensor.dtype.lanes = 1;
  tensor.dl_tensor.shape = shape;
  tensor.manager_ctx = &deleted;
  tensor.deleter = count_call;
  tessera_array* array = NULL;
  CHECK(tessera_array_from_dlpack(&tensor, &array, NULL) == TESSERA_OK);
  tessera_value* inputs = tessera_value_new_object();
  CHECK(tessera_object_set(inputs, "x", tessera_value_new_array(array), NULL) == TESSERA_OK);
  tessera_array_release(array);

  tessera_client_options options;
  memset(&options, 0, sizeof options);
  options.struct_size_bytes = sizeof options;
  options.exports_idle_ms = exports_idle_ms;
  tessera_client* client = NULL;
  tessera_client* fast = NULL;
  tessera_value* result = NULL;
  snprintf(text, sizeof text, "%s/identity", url);
  CHECK(tessera_client_connect(text, &options, &client, NULL) == TESSERA_OK);
  CHECK(tessera_client_with_encoding(client, NULL, "cuda_ipc", NULL, &fast, NULL) == TESSERA_OK);
  CHECK(tessera_client_apply(fast, inputs, NULL, &result, NULL) == TESSERA_OK);
  tessera_value_release(result);
  tessera_value_release(inputs);
  CHECK(deleted == 1);
  meanwhile();
  tessera_client_release(fast);
  tessera_client_release(client);
}

void test_gpu_arrays(const char* url, uint64_t address) {
  const float expected[6] = {0, 1, 2, 3, 4, 5};
  int64_t shape[2] = {2, 3};
  int deleted = 0;
  DLManagedTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.dl_tensor.data = (void*)(uintptr_t)address;  // NOLINT(performance-no-int-to-ptr)
  tensor.dl_tensor.device.device_type = kDLCUDA;
  tensor.dl_tensor.ndim = 2;
  tensor.dl_tensor.dtype.code = kDLFloat;
  tensor.dl_tensor.dtype.bits = 32;
  tensor.dl_tensor.dtype.lanes = 1;
  tensor.dl_tensor.shape = shape;
  tensor.manager_ctx = &deleted;
  tensor.deleter = count_call;

  tessera_error* error = NULL;
  tessera_array* array = NULL;
  tensor.dl_tensor.device.device_id = 1;
  CHECK(tessera_array_from_dlpack(&tensor, &array, &error) == TESSERA_ERROR_INVALID_ARGUMENT && deleted == 0);
  tessera_error_release(error);
  tensor.dl_tensor.device.device_id = 0;
  CHECK(tessera_array_from_dlpack(&tensor, &array, NULL) == TESSERA_OK);
  CHECK(tessera_array_is_on_device(array) && tessera_array_device_ordinal(array) == 0);
  CHECK(tessera_array_data(array) == tensor.dl_tensor.data);

  const char* transport = "";
  tessera_client* client = connect_to(url, "identity");
  tessera_client* fast = NULL;
  CHECK(tessera_client_resolve_gpu_transport(client, &transport, NULL) == TESSERA_OK);
  CHECK(strcmp(transport, "cuda_ipc") == 0);
  CHECK(tessera_client_with_encoding(client, NULL, transport, NULL, &fast, NULL) == TESSERA_OK);
  tessera_client_release(client);
  tessera_value* inputs = tessera_value_new_object();
  tessera_value* result = NULL;
  CHECK(tessera_object_set(inputs, "x", tessera_value_new_array(array), NULL) == TESSERA_OK);
  tessera_array_release(array);
  CHECK(tessera_client_apply(fast, inputs, NULL, &result, NULL) == TESSERA_OK && deleted == 0);
  tessera_value_release(inputs);
  CHECK(deleted == 1);

  const tessera_array* answer = NULL;
  float elements[6] = {0};
  size_t equal = 0;
  DLManagedTensor* out = NULL;
  CHECK(tessera_value_get_array(tessera_object_find(result, "x"), &answer, NULL) == TESSERA_OK);
  CHECK(tessera_array_is_on_device(answer) && tessera_array_device_ordinal(answer) == 0);
  CHECK(tessera_array_copy_to_host(answer, elements, sizeof elements, NULL) == TESSERA_OK);
  for (size_t i = 0; i != 6; ++i) {
    equal += elements[i] == expected[i];
  }
  CHECK(equal == 6);
  CHECK(tessera_array_to_dlpack(answer, &out, NULL) == TESSERA_OK);
  CHECK(out->dl_tensor.device.device_type == kDLCUDA && out->dl_tensor.device.device_id == 0);
  CHECK(out->dl_tensor.data == tessera_array_data(answer));
  out->deleter(out);
  tessera_value_release(result);
  tessera_client_release(fast);
}
