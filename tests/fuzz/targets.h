// The fuzz targets: each takes any bytes, and throws or crashes if what they reach is broken.
#pragma once

#include <span>
#include <string_view>

namespace tessera::fuzzing {

/// One target. Its run may be repeated, one thread at a time.
struct Target {
  std::string_view name;
  void (*run)(std::string_view input);
};

void fuzz_accept(std::string_view input);
void fuzz_array_base64(std::string_view input);
void fuzz_arriving_text(std::string_view input);
void fuzz_array_encodings(std::string_view input);
void fuzz_array_json(std::string_view input);
void fuzz_array_lz4(std::string_view input);
void fuzz_array_object(std::string_view input);
void fuzz_binref_path(std::string_view input);
void fuzz_chunked_body(std::string_view input);
void fuzz_descriptor(std::string_view input);
void fuzz_exports_done(std::string_view input);
void fuzz_gradient_path(std::string_view input);
void fuzz_http_session(std::string_view input);
void fuzz_payload(std::string_view input);
void fuzz_request_body(std::string_view input);
void fuzz_request_head(std::string_view input);
void fuzz_request_target(std::string_view input);
void fuzz_response_http(std::string_view input);
void fuzz_response_value(std::string_view input);
void fuzz_server_document(std::string_view input);
void fuzz_test_spec(std::string_view input);
void fuzz_words(std::string_view input);

/// All of them, by name.
[[nodiscard]] std::span<const Target> all_targets();

}  // namespace tessera::fuzzing
