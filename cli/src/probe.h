// Finds out what a server offers, what of it works from this process, and how fast it is.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tessera/sdk/tesseract.h"

namespace tessera {

/// One way for bytes to travel, and how it did. A plain value.
struct ProbeRow {
  std::string name;
  bool works = false;
  std::string reason;                  ///< why not, or why there is no figure
  std::optional<double> microseconds;  ///< the median of a small round trip
  std::optional<double> gigabytes_per_second;
};

/// A plain value.
struct ProbeResult {
  std::string url;
  std::string title;
  std::string version;
  std::vector<std::string> endpoints;
  ServerCapabilities capabilities;
  std::vector<ProbeRow> rows;
};

/// A plain value.
struct ProbeOptions {
  ClientOptions client;
  std::optional<std::string> apply_payload;  ///< a body for `apply`, which is then run in each encoding
};

/// Asks the server. Arrays are sent in a call that the server refuses once it has read them, so that nothing is
/// computed, unless a payload is given. Throws ClientError if the server cannot be used at all.
[[nodiscard]] ProbeResult probe(const std::string& url, const ProbeOptions& options);

}  // namespace tessera
