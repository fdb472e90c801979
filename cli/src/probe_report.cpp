#include "probe_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace tessera {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

std::string listed(const ServerCapabilities::Names& names) {
  return names ? listed(*names) : "not stated";
}

std::string figure(const char* format, std::optional<double> value) {
  if (!value) {
    return "";
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, *value);
  return text.data();
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, text.size()), ' ');
}

bool works(const ProbeResult& result, std::string_view beginning) {
  return std::ranges::any_of(result.rows,
                             [&](const ProbeRow& row) { return row.works && row.name.starts_with(beginning); });
}

// The best that works here, in one line.
std::string advice_of(const ProbeResult& result) {
  if (works(result, "cuda_ipc")) {
    return "GPU arrays can stay on the GPU: use with_encoding(gpu_transport=\"cuda_ipc\")";
  }
  if (works(result, "binref")) {
    return "large arrays go fastest as files: use with_encoding(output_format=\"json+binref\") with both folders";
  }
  if (!result.url.starts_with("unix:") &&
      (result.url.find("//127.") != std::string::npos || result.url.find("//localhost") != std::string::npos)) {
    return "the server is on this machine: a Unix socket (tessera serve --unix PATH) moves large arrays faster";
  }
  return "use with_encoding(output_format=\"json+base64\") for arrays";
}

nlohmann::json json_or_null(const ServerCapabilities::Names& names) {
  return names ? nlohmann::json(*names) : nlohmann::json(nullptr);
}

nlohmann::json json_or_null(std::optional<double> value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

std::string text_of(const ProbeResult& result) {
  std::string text = result.url + " serves " + result.title + (result.version.empty() ? "" : " " + result.version) +
                     "\n  endpoints       " + listed(result.endpoints) + "\n  output formats  " +
                     listed(result.capabilities.output_formats) + "\n  GPU transports  " +
                     listed(result.capabilities.gpu_transports) + "\n  compressions    " +
                     listed(result.capabilities.compressions) + "\n\n";
  std::size_t width = 0;
  for (const ProbeRow& row : result.rows) {
    width = std::max(width, row.name.size());
  }
  text += padded("what", width) + "  works  round trip       GB/s\n";
  for (const ProbeRow& row : result.rows) {
    const std::string time = figure("%.0f us", row.microseconds);
    const std::string speed = figure("%.2f", row.gigabytes_per_second);
    std::string line = padded(row.name, width) + (row.works ? "  yes    " : "  no     ") + padded(time, 12) + "  " +
                       std::string(7 - std::min<std::size_t>(7, speed.size()), ' ') + speed;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + (row.reason.empty() ? "" : "  " + row.reason) + "\n";
  }
  return text + "\n" + advice_of(result) + "\n";
}

std::string json_of(const ProbeResult& result) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ProbeRow& row : result.rows) {
    rows.push_back({{"name", row.name},
                    {"works", row.works},
                    {"reason", row.reason.empty() ? nlohmann::json(nullptr) : nlohmann::json(row.reason)},
                    {"round_trip_us", json_or_null(row.microseconds)},
                    {"gigabytes_per_second", json_or_null(row.gigabytes_per_second)}});
  }
  const nlohmann::json document = {{"url", result.url},
                                   {"title", result.title},
                                   {"version", result.version},
                                   {"endpoints", result.endpoints},
                                   {"output_formats", json_or_null(result.capabilities.output_formats)},
                                   {"gpu_transports", json_or_null(result.capabilities.gpu_transports)},
                                   {"compressions", json_or_null(result.capabilities.compressions)},
                                   {"rows", rows},
                                   {"advice", advice_of(result)}};
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tessera
