#include "encoding_request.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "tessera/sdk/client_error.h"

namespace tessera {
namespace {

[[noreturn]] void refuse_wish(const std::string& text) {
  throw ClientError(ClientError::Kind::kInvalidArgument, text);
}

std::string python_tuple(const std::vector<std::string>& names) {
  std::string text = "(";
  for (const std::string& name : names) {
    text += (text.size() > 1 ? ", '" : "'") + name + "'";
  }
  return text + (names.size() == 1 ? ",)" : ")");
}

void check_accepted(std::string_view name, const std::optional<std::string>& value,
                    const ServerCapabilities::Names& accepted) {
  if (value && accepted && std::ranges::find(*accepted, *value) == accepted->end()) {
    refuse_wish("This Tesseract does not accept " + std::string(name) + "='" + *value +
                "' (accepted: " + python_tuple(*accepted) + ")");
  }
}

// What is not stated by a server goes into a header as it is.
void check_is_name(std::string_view name, const std::optional<std::string>& value) {
  if (value && !std::ranges::all_of(*value, [](char c) { return c > ' ' && c < '\x7f' && c != ',' && c != ';'; })) {
    refuse_wish(std::string(name) + " is not the name of one: '" + *value + "'");
  }
}

}  // namespace

RequestedEncoding merged(const RequestedEncoding& base, const RequestedEncoding& overrides) {
  RequestedEncoding result = base;
  const auto take = [](std::optional<std::string>& into, const std::optional<std::string>& from) {
    if (from && !from->empty()) {
      into = from;
    }
  };
  take(result.output_format, overrides.output_format);
  take(result.gpu_transport, overrides.gpu_transport);
  take(result.compression, overrides.compression);
  return result;
}

RequestedEncoding fit_to_server(RequestedEncoding encoding, const ServerCapabilities& capabilities) {
  check_is_name("output_format", encoding.output_format);
  check_is_name("gpu_transport", encoding.gpu_transport);
  check_is_name("compression", encoding.compression);
  if (!capabilities.output_formats) {
    if (encoding.gpu_transport == "none") {
      encoding.gpu_transport.reset();
    }
    if (encoding.gpu_transport || encoding.compression) {
      std::string names = encoding.gpu_transport ? "gpu_transport" : "";
      if (encoding.compression) {
        names += names.empty() ? "compression" : " or compression";
      }
      refuse_wish("This Tesseract's runtime is older than 1.13 and cannot be asked for " + names +
                  " per request. Rebuild it with a newer runtime, or leave " + names + " unset.");
    }
    return encoding;
  }
  if (!capabilities.gpu_transports && encoding.gpu_transport && *encoding.gpu_transport != "none") {
    refuse_wish(
        "This Tesseract's runtime (1.13 or 1.14) passes GPU arrays in a format that is no longer read, so it "
        "cannot be asked for gpu_transport='" +
        *encoding.gpu_transport + "'. Rebuild it with a newer runtime, or request gpu_transport='none'.");
  }
  check_accepted("output_format", encoding.output_format, capabilities.output_formats);
  check_accepted("gpu_transport", encoding.gpu_transport, capabilities.gpu_transports);
  check_accepted("compression", encoding.compression, capabilities.compressions);
  return encoding;
}

std::optional<std::string> accept_header(const RequestedEncoding& encoding) {
  if (!encoding.output_format && !encoding.gpu_transport && !encoding.compression) {
    return std::nullopt;
  }
  std::string value = "application/" + encoding.output_format.value_or("*");
  if (encoding.gpu_transport) {
    value += "; gpu_transport=" + *encoding.gpu_transport;
  }
  if (encoding.compression) {
    value += "; compression=" + *encoding.compression;
  }
  return value;
}

}  // namespace tessera
