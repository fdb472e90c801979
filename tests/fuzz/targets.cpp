#include "targets.h"

namespace tessera::fuzzing {

std::span<const Target> all_targets() {
  static constexpr Target kTargets[] = {
      {"accept", fuzz_accept},
      {"array_base64", fuzz_array_base64},
      {"array_encodings", fuzz_array_encodings},
      {"array_json", fuzz_array_json},
      {"array_lz4", fuzz_array_lz4},
      {"array_object", fuzz_array_object},
      {"binref_path", fuzz_binref_path},
      {"chunked_body", fuzz_chunked_body},
      {"descriptor", fuzz_descriptor},
      {"arriving_text", fuzz_arriving_text},
      {"exports_done", fuzz_exports_done},
      {"gradient_path", fuzz_gradient_path},
      {"http_session", fuzz_http_session},
      {"payload", fuzz_payload},
      {"request_body", fuzz_request_body},
      {"request_head", fuzz_request_head},
      {"request_target", fuzz_request_target},
      {"response_http", fuzz_response_http},
      {"response_value", fuzz_response_value},
      {"server_document", fuzz_server_document},
      {"test_spec", fuzz_test_spec},
      {"words", fuzz_words},
  };
  return kTargets;
}

}  // namespace tessera::fuzzing
