// Checks for tests in C: what fails is printed and counted, and the test goes on.
#ifndef TESSERA_TESTS_C_CHECK_H_
#define TESSERA_TESTS_C_CHECK_H_

#include <stdint.h>  // NOLINT(modernize-deprecated-headers)

#ifdef __cplusplus
extern "C" {
#endif

/// Counts one failed check of the test that runs, and prints where it is.
void fail_check(const char* file, int line, const char* text);

#define CHECK(condition) ((condition) ? (void)0 : fail_check(__FILE__, __LINE__, #condition))

// The tests, in C; c_api_test.cpp runs them. `url` is that of a daemon with the Tesseracts everything, identity and
// vectoradd; `socket` the path of its Unix socket.
void test_scalars(void);
void test_texts(void);
void test_lists_and_objects(void);
void test_nested_building(void);
void test_arrays(void);
void test_array_errors(void);
void test_dlpack(void);
void test_dlpack_errors(void);
void test_null_releases(void);

void test_apply(const char* url);
void test_unix_socket(const char* socket);
void test_gradients(const char* url);
void test_plain_endpoints(const char* url);
void test_documents(const char* url);
void test_encodings(const char* url);
void test_files(const char* url, const char* input_path, const char* output_path);
void test_refusals(const char* url);
void test_client_errors(const char* url);
void test_options(const char* url);
void test_shorter_options(const char* url);
void test_cancellation(const char* url);
void test_progress(const char* url);
/// `address` is GPU memory of this process with the floats 0 to 5.
void test_gpu_arrays(const char* url, uint64_t address);
/// One array of the server's GPU is done with while the client is idle; `meanwhile` is called then, before the client
/// is released. `address` as above.
void test_idle_time(const char* url, uint64_t address, uint64_t exports_idle_ms, void (*meanwhile)(void));

#ifdef __cplusplus
}
#endif

#endif  // TESSERA_TESTS_C_CHECK_H_
