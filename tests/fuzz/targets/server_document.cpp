// What a server says about itself, and the encoding that a client asks it for.
#include "server_document.h"

#include <string>

#include "encoding_request.h"
#include "input.h"
#include "targets.h"
#include "tessera/sdk/client_error.h"

namespace tessera::fuzzing {
namespace {

void check_document(const ServerDocument& document) {
  static_cast<void>(document.has_endpoint("apply"));
  static_cast<void>(document.input_schema());
  static_cast<void>(document.output_schema());
}

void check_wish(const RequestedEncoding& wish, const ServerCapabilities& capabilities) {
  const RequestedEncoding asked = fit_to_server(wish, capabilities);
  const std::optional<std::string> header = accept_header(asked);
  require(!header.has_value() || header->find_first_of("\r\n") == std::string::npos, "a header is one line");
}

}  // namespace

void fuzz_server_document(std::string_view text) {
  try {
    const ServerDocument document(text);
    for (const char* const format : {"json", "json+base64", "json+binref"}) {
      try {
        check_wish({.output_format = format, .gpu_transport = "cuda_ipc", .compression = "lz4"},
                   document.capabilities());
      } catch (const ClientError& error) {
        require(error.kind() == ClientError::Kind::kInvalidArgument, "a wish that cannot be met is the caller's");
      }
    }
    check_document(document);
  } catch (const ClientError& error) {
    require(error.kind() == ClientError::Kind::kBadResponse, "a bad document is told apart");
  }
}

}  // namespace tessera::fuzzing
