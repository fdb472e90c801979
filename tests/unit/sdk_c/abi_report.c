// Prints what a program that was compiled with tessera.h relies on, beside the declarations: sizes and places in
// structs.
#include <stdio.h>

#include "tessera/sdk/dlpack.h"
#include "tessera/tessera.h"

#define SIZE(type) printf("sizeof %s = %zu\n", #type, sizeof(type))
#define FIELD(type, field) \
  printf("offset %s.%s = %zu, %zu bytes\n", #type, #field, offsetof(type, field), sizeof(((type*)0)->field))

// NOLINTBEGIN(bugprone-sizeof-expression): of pointers, too
int main(void) {
  SIZE(tessera_status);
  SIZE(tessera_dtype);
  SIZE(tessera_kind);
  SIZE(tessera_client_options);
  FIELD(tessera_client_options, struct_size_bytes);
  FIELD(tessera_client_options, connect_timeout_ms);
  FIELD(tessera_client_options, read_timeout_ms);
  FIELD(tessera_client_options, total_timeout_ms);
  FIELD(tessera_client_options, server_output_path);
  FIELD(tessera_client_options, server_input_path);
  FIELD(tessera_client_options, warn);
  FIELD(tessera_client_options, warn_context);
  FIELD(tessera_client_options, max_response_bytes);
  FIELD(tessera_client_options, borrows_gpu_arrays);
  FIELD(tessera_client_options, reserved);
  FIELD(tessera_client_options, progress);
  FIELD(tessera_client_options, progress_context);
  FIELD(tessera_client_options, progress_from_bytes);
  FIELD(tessera_client_options, exports_idle_ms);
  SIZE(tessera_call_options);
  FIELD(tessera_call_options, struct_size_bytes);
  FIELD(tessera_call_options, run_id);
  FIELD(tessera_call_options, cancellation);
  SIZE(DLManagedTensor);
  FIELD(DLManagedTensor, dl_tensor.data);
  FIELD(DLManagedTensor, dl_tensor.device.device_type);
  FIELD(DLManagedTensor, dl_tensor.device.device_id);
  FIELD(DLManagedTensor, dl_tensor.ndim);
  FIELD(DLManagedTensor, dl_tensor.dtype.code);
  FIELD(DLManagedTensor, dl_tensor.dtype.bits);
  FIELD(DLManagedTensor, dl_tensor.dtype.lanes);
  FIELD(DLManagedTensor, dl_tensor.shape);
  FIELD(DLManagedTensor, dl_tensor.strides);
  FIELD(DLManagedTensor, dl_tensor.byte_offset);
  FIELD(DLManagedTensor, manager_ctx);
  FIELD(DLManagedTensor, deleter);
  return 0;
}
// NOLINTEND(bugprone-sizeof-expression)
