// Which encoding a compute response has, by the Accept header of its request (PROTOCOL.md section 3).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/array/encoding.h"

namespace tessera {

/// What a service can produce, and what it does when a client has no wish. A plain value.
struct EncodingOffer {
  OutputFormat default_format = OutputFormat::kJson;
  Compression default_compression = Compression::kNone;
  std::vector<std::string> gpu_transports{"none"};
};

/// One part of an Accept header. Borrows the header. A plain value.
struct MediaRange {
  std::string media_type;  ///< in lower case
  double quality = 1.0;
  std::optional<std::string_view> gpu_transport;
  std::optional<std::string_view> compression;
};

/// The parts of an Accept header, the best quality first, equal ones as they came; a quality of NaN stands where
/// Python's sort leaves it, and counts as 0 among 64 parts or more. Bytes are read as latin-1.
[[nodiscard]] std::vector<MediaRange> parse_accept(std::string_view accept);

/// The encoding that the header asks for; nothing if no part of it can be met (406). Without a header, or with an empty
/// one, the default. Safe to call from any thread.
[[nodiscard]] std::optional<Encoding> negotiate(std::optional<std::string_view> accept, const EncodingOffer& offer);

/// The body of a 406: what was asked for, and what there is.
[[nodiscard]] std::string not_acceptable_body(std::string_view accept, const EncodingOffer& offer);

/// Whether a client would rather have a page than JSON: browsers would, programs would not.
[[nodiscard]] bool prefers_html(std::optional<std::string_view> accept);

}  // namespace tessera
