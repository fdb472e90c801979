// Calls of a served Tesseract from C (C99), and from what speaks C; from C++ use tessera/sdk/tesseract.h.
//
// Link libtessera_c: `tessera::c` of find_package(tessera), or `pkg-config --cflags --libs tessera`.
//
// 1. Status. What can fail returns a tessera_status, TESSERA_OK (0) for success. Results come through out-parameters,
//    which are written on success alone. What cannot fail returns its answer.
// 2. Error text. The last parameter of what can fail, `error`, may be NULL. Otherwise *error becomes NULL on success,
//    and a tessera_error on failure that the caller releases (NULL still, if there is no memory for it).
// 3. Ownership. What a `new` function returns or an out-parameter without `const` receives is the caller's, who
//    releases it with the release function of its type. Release functions take NULL. What comes as a pointer to `const`
//    is borrowed: it is valid until its owner is released or changed. Arguments are read during the call alone, unless
//    their function says that it takes them. NULL where nothing says that it may be is TESSERA_ERROR_INVALID_ARGUMENT
//    for what has a status, and must not be given to what has none.
// 4. Threads. A client and a cancellation may be used by any number of threads at once. All else: one thread at a time
//    for one object, but functions that take it as `const` may run at once. Objects may go to other threads. Nobody
//    may use an object while it is released.
// 5. Text is UTF-8. `const char*` without a size ends with NUL. Sizes are in bytes where they say so, times in
//    milliseconds.
// 6. Structs that the caller fills begin with their size, `options.struct_size_bytes = sizeof options`, so that later
//    versions can add fields at the end; all other bytes 0 means the default of every field.
// 7. Versions. Until tessera 1.0 everything here is unstable; the library's SONAME changes when something does that
//    programs must be compiled again for.
// 8. Callbacks and deleters must not throw, nor leave the call by longjmp.
// 9. The library stays loaded once it is loaded: it has a thread, and the CUDA driver has its own. After fork(2)
// without
//    exec, a child must not use what its parent made.
#ifndef TESSERA_TESSERA_H_
#define TESSERA_TESSERA_H_

// NOLINTBEGIN(readability-identifier-naming, modernize-use-using, modernize-deprecated-headers)
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESSERA_API __attribute__((visibility("default")))

typedef struct tessera_error tessera_error;
typedef struct tessera_value tessera_value;
typedef struct tessera_array tessera_array;
typedef struct tessera_client tessera_client;
typedef struct tessera_cancellation tessera_cancellation;
// Of DLPack: <dlpack/dlpack.h>, or "tessera/sdk/dlpack.h".
struct DLManagedTensor;

/// The version of the library that runs, "0.1.0". Lives for ever.
TESSERA_API const char* tessera_version(void);

// --- status and errors -----------------------------------------------------------------------------------------------

/// Why a call did not do what it should.
typedef enum tessera_status {
  TESSERA_OK = 0,
  TESSERA_ERROR_INVALID_ARGUMENT = 1,  ///< the call cannot be made: a URL, an encoding, a shape, a NULL
  TESSERA_ERROR_NOT_IMPLEMENTED = 2,   ///< the Tesseract does not have this endpoint; nothing was sent
  TESSERA_ERROR_CONNECTION = 3,        ///< no connection, or it broke off
  TESSERA_ERROR_TIMEOUT = 4,           ///< a timeout of the client's options passed
  TESSERA_ERROR_CANCELLED = 5,         ///< by a tessera_cancellation
  TESSERA_ERROR_REFUSED = 6,           ///< 422: the inputs are not what the schema asks for
  TESSERA_ERROR_HTTP_STATUS = 7,       ///< another HTTP status that is no success
  TESSERA_ERROR_BAD_RESPONSE = 8,      ///< what came back is not of this protocol
  TESSERA_ERROR_GPU = 9,               ///< an array in GPU memory could not be handed over, copied or found
  TESSERA_ERROR_TEST_FAILED = 10,      ///< tessera_client_test(): the outputs were not the expected ones
  TESSERA_ERROR_WRONG_KIND = 11,       ///< the value is of another kind, or its number does not fit
  TESSERA_ERROR_OUT_OF_MEMORY = 12,    ///< of the host or of a GPU
  TESSERA_ERROR_INTERNAL = 13          ///< a fault of the library or of the system
} tessera_status;

TESSERA_API tessera_status tessera_error_status(const tessera_error* error);
/// One or several lines for people, with the server's own text.
TESSERA_API const char* tessera_error_text(const tessera_error* error);
/// The HTTP status of the response; 0 if there was none.
TESSERA_API int tessera_error_http_status(const tessera_error* error);
/// What a 422 says: a list of objects with "type" and "msg" (texts), "loc" (a list of keys and indices), "input" and
/// "ctx" (any values). Empty for other errors.
TESSERA_API const tessera_value* tessera_error_items(const tessera_error* error);
TESSERA_API void tessera_error_release(tessera_error* error);

// --- arrays ----------------------------------------------------------------------------------------------------------

/// Element types. Half floats and complex numbers lie in memory as IEEE 754 binary16, and as real and imaginary part.
#ifdef __cplusplus
typedef enum tessera_dtype : unsigned {  // as in C, so that a wrong number is refused, not undefined
#else
typedef enum tessera_dtype {
#endif
  TESSERA_DTYPE_FLOAT16 = 0,
  TESSERA_DTYPE_FLOAT32 = 1,
  TESSERA_DTYPE_FLOAT64 = 2,
  TESSERA_DTYPE_INT8 = 3,
  TESSERA_DTYPE_INT16 = 4,
  TESSERA_DTYPE_INT32 = 5,
  TESSERA_DTYPE_INT64 = 6,
  TESSERA_DTYPE_BOOL = 7,
  TESSERA_DTYPE_UINT8 = 8,
  TESSERA_DTYPE_UINT16 = 9,
  TESSERA_DTYPE_UINT32 = 10,
  TESSERA_DTYPE_UINT64 = 11,
  TESSERA_DTYPE_COMPLEX64 = 12,
  TESSERA_DTYPE_COMPLEX128 = 13
} tessera_dtype;

/// The name on the wire, e.g. "float32"; NULL for a number that is no element type. Lives for ever.
TESSERA_API const char* tessera_dtype_name(tessera_dtype dtype);
/// Bytes of one element; 0 for a number that is no element type.
TESSERA_API size_t tessera_dtype_size_bytes(tessera_dtype dtype);

/// Copies elements from host memory, in C order, of any alignment. `shape` has `rank` sizes, the slowest axis first.
/// Any bool byte but 0 counts as true.
TESSERA_API tessera_status tessera_array_copy_from(tessera_dtype dtype, size_t rank, const int64_t* shape,
                                                   const void* elements, tessera_array** array, tessera_error** error);
/// Makes an array of a DLPack tensor in host or CUDA memory, of any strides. On success the array owns the tensor and
/// calls its deleter once, on whatever thread; on failure the tensor is still the caller's. The memory is shared where
/// it is in C order and aligned, and of another type than bool in host memory: then it must not be written to as long
/// as an array shares it. Work that fills GPU memory must be done, or queued on the legacy default stream.
TESSERA_API tessera_status tessera_array_from_dlpack(struct DLManagedTensor* tensor, tessera_array** array,
                                                     tessera_error** error);
/// Makes a DLPack tensor that shares the array's memory, which must not be written to as long as others share it. The
/// caller, or who takes it over, calls `tensor->deleter(tensor)` once, on any thread.
TESSERA_API tessera_status tessera_array_to_dlpack(const tessera_array* array, struct DLManagedTensor** tensor,
                                                   tessera_error** error);
/// Another handle to the same elements, which cannot be told from this one. NULL if there is no memory.
TESSERA_API tessera_array* tessera_array_new_copy(const tessera_array* array);

TESSERA_API tessera_dtype tessera_array_dtype(const tessera_array* array);
TESSERA_API size_t tessera_array_rank(const tessera_array* array);
/// The sizes of the axes; borrowed; may be NULL for rank 0.
TESSERA_API const int64_t* tessera_array_shape(const tessera_array* array);
/// Bytes of all elements.
TESSERA_API size_t tessera_array_size_bytes(const tessera_array* array);
TESSERA_API bool tessera_array_is_on_device(const tessera_array* array);
/// The ordinal in this process of the GPU that the array is on; -1 for one in host memory.
TESSERA_API int32_t tessera_array_device_ordinal(const tessera_array* array);
/// The first element, in C order; borrowed. On a GPU it is a CUdeviceptr that the host cannot follow. May be NULL for
/// an array without elements.
TESSERA_API const void* tessera_array_data(const tessera_array* array);
/// Copies all elements to host memory, wherever they are. `size_bytes` is that of the array, or more.
TESSERA_API tessera_status tessera_array_copy_to_host(const tessera_array* array, void* target, size_t size_bytes,
                                                      tessera_error** error);
TESSERA_API void tessera_array_release(tessera_array* array);

// --- values ----------------------------------------------------------------------------------------------------------

typedef enum tessera_kind {
  TESSERA_KIND_NULL = 0,
  TESSERA_KIND_BOOL = 1,
  TESSERA_KIND_INT = 2,
  TESSERA_KIND_UINT = 3,  ///< a whole number above 2^63-1 alone
  TESSERA_KIND_DOUBLE = 4,
  TESSERA_KIND_TEXT = 5,
  TESSERA_KIND_LIST = 6,
  TESSERA_KIND_OBJECT = 7,
  TESSERA_KIND_ARRAY = 8
} tessera_kind;

/// Each makes a value; NULL if there is no memory, of a text also if it is not UTF-8, of an array if that is NULL.
TESSERA_API tessera_value* tessera_value_new_null(void);
TESSERA_API tessera_value* tessera_value_new_bool(bool flag);
TESSERA_API tessera_value* tessera_value_new_int(int64_t number);
TESSERA_API tessera_value* tessera_value_new_uint(uint64_t number);
TESSERA_API tessera_value* tessera_value_new_double(double number);
TESSERA_API tessera_value* tessera_value_new_text(const char* text, size_t size_bytes);
TESSERA_API tessera_value* tessera_value_new_list(void);
TESSERA_API tessera_value* tessera_value_new_object(void);
/// Shares the elements of the array, which stays the caller's.
TESSERA_API tessera_value* tessera_value_new_array(const tessera_array* array);
/// Copies all of it, but shares the elements of arrays.
TESSERA_API tessera_value* tessera_value_new_copy(const tessera_value* value);

/// Takes `item` and puts it at the end of a list. Takes it on failure too, and NULL is a failure, so that calls can be
/// nested: tessera_list_append(list, tessera_value_new_int(3), &error).
TESSERA_API tessera_status tessera_list_append(tessera_value* list, tessera_value* item, tessera_error** error);
/// Takes `member`, in the same way, and makes it the value of a key; a new key goes to the end.
TESSERA_API tessera_status tessera_object_set(tessera_value* object, const char* key, tessera_value* member,
                                              tessera_error** error);

/// The kind; that of NULL is TESSERA_KIND_NULL.
TESSERA_API tessera_kind tessera_value_kind(const tessera_value* value);
/// Each reads a value of its kind. Whole numbers are read as int, as uint where they are in its range, and as double;
/// other numbers as double alone. What is borrowed is valid until the value is released or changed. `value` may be
/// NULL: TESSERA_ERROR_WRONG_KIND.
TESSERA_API tessera_status tessera_value_get_bool(const tessera_value* value, bool* flag, tessera_error** error);
TESSERA_API tessera_status tessera_value_get_int(const tessera_value* value, int64_t* number, tessera_error** error);
TESSERA_API tessera_status tessera_value_get_uint(const tessera_value* value, uint64_t* number, tessera_error** error);
TESSERA_API tessera_status tessera_value_get_double(const tessera_value* value, double* number, tessera_error** error);
/// A text may have NULs; one stands behind it. `size_bytes` may be NULL.
TESSERA_API tessera_status tessera_value_get_text(const tessera_value* value, const char** text, size_t* size_bytes,
                                                  tessera_error** error);
TESSERA_API tessera_status tessera_value_get_array(const tessera_value* value, const tessera_array** array,
                                                   tessera_error** error);
/// Number of items or members; 0 for what is no list, or no object.
TESSERA_API size_t tessera_list_size(const tessera_value* list);
TESSERA_API size_t tessera_object_size(const tessera_value* object);
/// Borrowed; NULL if there is none, or `list` or `object` is NULL or no such thing, so that calls can be nested.
TESSERA_API const tessera_value* tessera_list_at(const tessera_value* list, size_t index);
TESSERA_API const tessera_value* tessera_object_find(const tessera_value* object, const char* key);
/// The members in order of insertion.
TESSERA_API const tessera_value* tessera_object_at(const tessera_value* object, size_t index);
TESSERA_API const char* tessera_object_key_at(const tessera_value* object, size_t index);
TESSERA_API void tessera_value_release(tessera_value* value);

// --- clients ---------------------------------------------------------------------------------------------------------

/// How a client connects and how long it waits. All bytes behind the size 0: the defaults.
typedef struct tessera_client_options {
  size_t struct_size_bytes;     ///< sizeof(tessera_client_options)
  uint64_t connect_timeout_ms;  ///< until a connection stands; 0: without end, like the next two
  uint64_t read_timeout_ms;     ///< between two arrivals of bytes, or departures
  uint64_t total_timeout_ms;    ///< of a whole call
  /// The folder, as this process sees it, into which the server writes files: needed to read json+binref. NULL: none.
  const char* server_output_path;
  /// The folder, as this process sees it, from which the server reads files. With it, arrays are sent as files while
  /// json+binref is asked for. NULL: none.
  const char* server_input_path;
  /// Called with one sentence when a call is degraded but goes on, on the thread of the call. NULL: the sentence goes
  /// to standard error.
  void (*warn)(const char* sentence, void* warn_context);
  void* warn_context;           ///< outlives the client and its views
  uint64_t max_response_bytes;  ///< larger responses are refused; 0: 32 GiB
  /// Arrays that come by a GPU transport stay the server's memory, mapped, until their last handle is released.
  /// Otherwise they are copied on the GPU.
  bool borrows_gpu_arrays;
  uint8_t reserved[7];  ///< 0
  /// Called with the bytes that a transfer has moved and has to move (0: not known), on the thread of the call, if it
  /// is of progress_from_bytes or more; at least every 8 MiB. NULL: nothing is called.
  void (*progress)(uint64_t done_bytes, uint64_t total_bytes, void* progress_context);
  void* progress_context;        ///< outlives the client and its views
  uint64_t progress_from_bytes;  ///< 0: 64 MiB
  /// After this time without a request, the server is told which of its GPU arrays are no longer needed; 0: 100 ms.
  uint64_t exports_idle_ms;
} tessera_client_options;

/// Of one call. All bytes behind the size 0: the defaults.
typedef struct tessera_call_options {
  size_t struct_size_bytes;                  ///< sizeof(tessera_call_options)
  const char* run_id;                        ///< the server keeps the run's files under this name; NULL: its own choice
  const tessera_cancellation* cancellation;  ///< ends the call from another thread; NULL: nothing does
} tessera_call_options;

/// A switch that ends the calls it was given to, with TESSERA_ERROR_CANCELLED, and those that come.
TESSERA_API tessera_status tessera_cancellation_new(tessera_cancellation** cancellation, tessera_error** error);
TESSERA_API void tessera_cancellation_cancel(const tessera_cancellation* cancellation);
TESSERA_API void tessera_cancellation_release(tessera_cancellation* cancellation);

/// Makes a client of the Tesseract at `url`: "http://host:port", with a path if it is served under one, "host:port", or
/// "unix:/path/of.sock" with ":/path" behind it if there is one. Sends nothing yet. `options` may be NULL.
TESSERA_API tessera_status tessera_client_connect(const char* url, const tessera_client_options* options,
                                                  tessera_client** client, tessera_error** error);
/// Makes a view whose calls ask for this encoding; what is NULL stays as it is here. Views share connections, and what
/// is known of the server; each is released by itself. `output_format`: "json", "json+base64", "json+binref";
/// `gpu_transport`: "none", "cuda_ipc"; `compression`: "none", "lz4".
TESSERA_API tessera_status tessera_client_with_encoding(const tessera_client* client, const char* output_format,
                                                        const char* gpu_transport, const char* compression,
                                                        tessera_client** view, tessera_error** error);
/// Finds the GPU transport to use: the one that this view asks for, once it has shown to work
/// (TESSERA_ERROR_GPU otherwise), else the first that the server offers and that works from here, else "none", with a
/// warning that says why. The text is borrowed from the client.
TESSERA_API tessera_status tessera_client_resolve_gpu_transport(tessera_client* client, const char** gpu_transport,
                                                                tessera_error** error);
/// The address as text, without credentials; borrowed from the client.
TESSERA_API const char* tessera_client_url(const tessera_client* client);
/// Tells the server which of its GPU arrays are no longer needed, and closes idle connections, for all views. The
/// client may still be used. Happens by itself with the release of the last view.
TESSERA_API void tessera_client_close(const tessera_client* client);
TESSERA_API void tessera_client_release(tessera_client* client);

/// Runs the function. `inputs` is an object; so is the result, with arrays wherever the answer has some. `options` may
/// be NULL, here and in the next ones.
TESSERA_API tessera_status tessera_client_apply(const tessera_client* client, const tessera_value* inputs,
                                                const tessera_call_options* options, tessera_value** result,
                                                tessera_error** error);
/// The derivatives of the outputs that are named by the inputs that are named: result[output][input].
TESSERA_API tessera_status tessera_client_jacobian(const tessera_client* client, const tessera_value* inputs,
                                                   const char* const* jac_inputs, size_t jac_input_count,
                                                   const char* const* jac_outputs, size_t jac_output_count,
                                                   const tessera_call_options* options, tessera_value** result,
                                                   tessera_error** error);
/// The derivative in the direction of `tangent_vector`, an object with an array for each of `jvp_inputs`:
/// result[output].
TESSERA_API tessera_status tessera_client_jacobian_vector_product(
    const tessera_client* client, const tessera_value* inputs, const char* const* jvp_inputs, size_t jvp_input_count,
    const char* const* jvp_outputs, size_t jvp_output_count, const tessera_value* tangent_vector,
    const tessera_call_options* options, tessera_value** result, tessera_error** error);
/// The gradient of `cotangent_vector`, an object with an array for each of `vjp_outputs`, times the outputs:
/// result[input].
TESSERA_API tessera_status tessera_client_vector_jacobian_product(
    const tessera_client* client, const tessera_value* inputs, const char* const* vjp_inputs, size_t vjp_input_count,
    const char* const* vjp_outputs, size_t vjp_output_count, const tessera_value* cotangent_vector,
    const tessera_call_options* options, tessera_value** result, tessera_error** error);
/// The shapes and dtypes of the outputs for those of the inputs; arrays are objects {"shape": …, "dtype": …} both ways.
TESSERA_API tessera_status tessera_client_abstract_eval(const tessera_client* client,
                                                        const tessera_value* abstract_inputs,
                                                        const tessera_call_options* options, tessera_value** result,
                                                        tessera_error** error);
/// Has the server run a test specification, an object.
TESSERA_API tessera_status tessera_client_test(const tessera_client* client, const tessera_value* test_spec,
                                               const tessera_call_options* options, tessera_error** error);
/// {"status": "ok"}.
TESSERA_API tessera_status tessera_client_health(const tessera_client* client, const tessera_call_options* options,
                                                 tessera_value** result, tessera_error** error);

/// A list of texts: "apply", "health", …
TESSERA_API tessera_status tessera_client_available_endpoints(const tessera_client* client, tessera_value** endpoints,
                                                              tessera_error** error);
/// What the server accepts: an object with "output_formats", "gpu_transports" and "compressions", each a list of texts,
/// or null where it does not say.
TESSERA_API tessera_status tessera_client_server_capabilities(const tessera_client* client,
                                                              tessera_value** capabilities, tessera_error** error);
/// The OpenAPI document, and in it the schemas of the inputs and of the outputs of apply; borrowed from the client. It
/// is fetched once.
TESSERA_API tessera_status tessera_client_openapi_schema(const tessera_client* client, const tessera_value** schema,
                                                         tessera_error** error);
TESSERA_API tessera_status tessera_client_input_schema(const tessera_client* client, const tessera_value** schema,
                                                       tessera_error** error);
TESSERA_API tessera_status tessera_client_output_schema(const tessera_client* client, const tessera_value** schema,
                                                        tessera_error** error);

#ifdef __cplusplus
}  // extern "C"
#endif
// NOLINTEND(readability-identifier-naming, modernize-use-using, modernize-deprecated-headers)

#endif  // TESSERA_TESSERA_H_
