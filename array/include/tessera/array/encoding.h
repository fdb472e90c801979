// How the arrays of one response are written, as negotiated (PROTOCOL.md section 3).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera {

/// Formats (PROTOCOL.md sections 5.1 to 5.3).
enum class OutputFormat { kJson, kBase64, kBinref };
/// Of buffers in base64 and binref (PROTOCOL.md section 5.4).
enum class Compression { kNone, kLz4 };

/// "json", "json+base64", "json+binref".
[[nodiscard]] std::string_view name_of(OutputFormat format);
/// By its exact name; nothing for others.
[[nodiscard]] std::optional<OutputFormat> find_output_format(std::string_view name);
/// "none", "lz4".
[[nodiscard]] std::string_view name_of(Compression compression);
/// By its exact name; nothing for others.
[[nodiscard]] std::optional<Compression> find_compression(std::string_view name);
/// The media type of a response: "application/" and the name of the format.
[[nodiscard]] std::string media_type_of(OutputFormat format);

/// A plain value.
struct Encoding {
  OutputFormat format = OutputFormat::kJson;
  Compression compression = Compression::kNone;  ///< has no effect on kJson
  std::string gpu_transport = "none";            ///< for arrays in GPU memory
};

}  // namespace tessera
