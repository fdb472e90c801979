// What a server says about itself in its OpenAPI document (PROTOCOL.md section 9.3).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/array/value.h"
#include "tessera/sdk/client_options.h"

namespace tessera {

/// Immutable; safe to use from any thread.
class ServerDocument {
 public:
  /// Reads the text of `/openapi.json`. Throws ClientError (kBadResponse).
  explicit ServerDocument(std::string_view text);

  [[nodiscard]] const Value& document() const { return document_; }
  [[nodiscard]] const std::vector<std::string>& endpoints() const { return endpoints_; }
  [[nodiscard]] bool has_endpoint(std::string_view name) const;
  [[nodiscard]] const ServerCapabilities& capabilities() const { return capabilities_; }
  /// Throws ClientError (kBadResponse) if the document has none.
  [[nodiscard]] const Value& input_schema() const;
  [[nodiscard]] const Value& output_schema() const;

 private:
  Value document_;
  std::vector<std::string> endpoints_;
  ServerCapabilities capabilities_;
};

}  // namespace tessera
