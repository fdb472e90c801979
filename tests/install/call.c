// A program in C that calls a Tesseract by the installed library: prints factor * x[0] of the Tesseract `scale`.
// Usage: call URL X FACTOR
#include <stdio.h>
#include <stdlib.h>
#include <tessera/sdk/dlpack.h>
#include <tessera/tessera.h>

// Says what went wrong, and ends the program.
static void check(tessera_status status, tessera_error* error) {
  if (status != TESSERA_OK) {
    fprintf(stderr, "%s\n", error == NULL ? "there is no memory" : tessera_error_text(error));
    exit(1);
  }
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: call URL X FACTOR\n");
    return 2;
  }
  tessera_error* error = NULL;
  tessera_client* client = NULL;
  check(tessera_client_connect(argv[1], NULL, &client, &error), error);

  const double x = strtod(argv[2], NULL);
  const int64_t size = 1;
  tessera_array* array = NULL;
  check(tessera_array_copy_from(TESSERA_DTYPE_FLOAT64, 1, &size, &x, &array, &error), error);
  tessera_value* inputs = tessera_value_new_object();
  check(tessera_object_set(inputs, "x", tessera_value_new_array(array), &error), error);
  check(tessera_object_set(inputs, "factor", tessera_value_new_double(strtod(argv[3], NULL)), &error), error);
  tessera_array_release(array);

  tessera_value* result = NULL;
  check(tessera_client_apply(client, inputs, NULL, &result, &error), error);
  const tessera_array* y = NULL;
  check(tessera_value_get_array(tessera_object_find(result, "y"), &y, &error), error);
  DLManagedTensor* tensor = NULL;
  check(tessera_array_to_dlpack(y, &tensor, &error), error);
  printf("%g\n", *(const double*)tensor->dl_tensor.data);
  tensor->deleter(tensor);

  tessera_value_release(result);
  tessera_value_release(inputs);
  tessera_client_release(client);
  return 0;
}
