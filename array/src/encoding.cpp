#include "tessera/array/encoding.h"

namespace tessera {

std::string_view name_of(OutputFormat format) {
  switch (format) {
    case OutputFormat::kBase64:
      return "json+base64";
    case OutputFormat::kBinref:
      return "json+binref";
    case OutputFormat::kJson:
      break;
  }
  return "json";
}

std::optional<OutputFormat> find_output_format(std::string_view name) {
  for (const OutputFormat format : {OutputFormat::kJson, OutputFormat::kBase64, OutputFormat::kBinref}) {
    if (name == name_of(format)) {
      return format;
    }
  }
  return std::nullopt;
}

std::string_view name_of(Compression compression) {
  return compression == Compression::kLz4 ? "lz4" : "none";
}

std::optional<Compression> find_compression(std::string_view name) {
  for (const Compression compression : {Compression::kNone, Compression::kLz4}) {
    if (name == name_of(compression)) {
      return compression;
    }
  }
  return std::nullopt;
}

std::string media_type_of(OutputFormat format) {
  return std::string("application/").append(name_of(format));
}

}  // namespace tessera
