// How a report is shown, to people and to programs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "top_report.h"

namespace tessera {
namespace {

// Of a table, in columns.
constexpr int kNameWidth = 30;
constexpr int kNumberWidth = 12;

// Of what a foreign server says: a terminal would obey control characters.
std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool is_pair = byte == 0xc2 && next >= 0x80 && next < 0xa0;  // U+0080 to U+009F
    shown += is_pair || byte < 0x20 || byte == 0x7f ? '?' : text[i];
    i += is_pair ? 1 : 0;
  }
  return shown;
}

// None of the figures here can be less than nothing.
std::string number(const char* format, double value) {
  if (!std::isfinite(value) || value < 0) {
    return "?";
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string count_text(double value) {
  return number("%.0f", value);
}

std::string rate_text(double value) {
  return number(value < 100 ? "%.1f" : "%.0f", value);
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 5> kUnits{"%.0f B", "%.1f KiB", "%.1f MiB", "%.1f GiB", "%.1f TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return number(kUnits.at(unit), bytes);
}

std::string time_text(std::optional<double> seconds) {
  if (!seconds) {
    return "-";
  }
  if (*seconds < 1e-3) {
    return number("%.0f us", *seconds * 1e6);
  }
  return *seconds < 1 ? number("%.1f ms", *seconds * 1e3) : number("%.1f s", *seconds);
}

std::string age_text(double seconds) {
  constexpr double kLongest = 1e15;  // far from what a whole number can hold
  if (!(seconds >= 0 && seconds < kLongest)) {
    return "?";
  }
  const auto whole = static_cast<long long>(seconds);
  if (whole < 60) {
    return std::to_string(whole) + " s";
  }
  if (whole < 3600) {
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  }
  if (whole < 86400) {
    return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
  }
  return std::to_string(whole / 86400) + " d " + std::to_string(whole % 86400 / 3600) + " h";
}

std::string right(const std::string& text) {
  const std::size_t width = kNumberWidth;
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string row(std::string_view words, std::initializer_list<std::string> cells) {
  const std::size_t width = kNameWidth;
  std::string name = printable(words);
  name.resize(std::max(width, name.size()), ' ');
  for (const std::string& cell : cells) {
    name += right(cell);
  }
  return name + "\n";
}

std::string title_of(const TopReport& report) {
  const std::string of = report.is_since_start ? "since its start" : "of the last " + number("%.1f s", report.seconds);
  return printable(report.url) + "  tessera " + printable(report.version) + "  up " + age_text(report.uptime_s) +
         "\nrates and times " + of + "\n";
}

// Of an endpoint that answered anything but 200.
std::string statuses_of(const TopReport::Endpoint& endpoint) {
  std::string text;
  bool are_others = false;
  for (const auto& [status, rate] : endpoint.statuses) {
    if (rate > 0) {
      text += (text.empty() ? "  " : ", ") + printable(status) + " " + rate_text(rate) + "/s";
      are_others = are_others || status != "200";
    }
  }
  return are_others ? text + "\n" : "";
}

std::string limits_of(const TopReport& report) {
  std::string text;
  for (const auto& [name, limit] : report.limits) {
    if (limit.hits > 0) {
      text += row(name, {rate_text(limit.hits_per_second), count_text(limit.hits)});
    }
  }
  return text.empty() ? "limits hit since its start: none\n" : row("limit", {"hits/s", "since start"}) + text;
}

nlohmann::json json_figure(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

std::string text_of(const TopReport& report) {
  std::string text = title_of(report);
  text += "workers " + count_text(report.busy_workers) + " of " + count_text(report.workers) + " busy, " +
          count_text(report.waiting_calls) + " calls waiting; connections " + count_text(report.connections) + "\n" +
          "codecs " + count_text(report.busy_codecs) + " of " + count_text(report.codecs) + " busy, " +
          count_text(report.waiting_codecs) + " requests waiting; bodies " + bytes_text(report.bodies_bytes) + " of " +
          bytes_text(report.bodies_limit_bytes) + "\n\n";
  text += row("endpoint", {"requests/s", "errors/s", "p50", "p99"});
  for (const TopReport::Endpoint& endpoint : report.endpoints) {
    text += row((endpoint.tesseract.empty() ? "" : endpoint.tesseract + "/") + endpoint.endpoint,
                {rate_text(endpoint.requests), rate_text(endpoint.errors), time_text(endpoint.times.p50_s),
                 time_text(endpoint.times.p99_s)});
    text += statuses_of(endpoint);
  }
  text += "\n" + row("part of calls", {"p50", "p99"});
  for (const TopReport::Part& part : report.parts) {
    text += row(part.name, {time_text(part.times.p50_s), time_text(part.times.p99_s)});
  }
  text += "\n" + row("bytes", {"received/s", "sent/s"});
  for (const TopReport::Encoding& encoding : report.arrays) {
    if (encoding.received_bytes > 0 || encoding.sent_bytes > 0) {
      text += row("arrays as " + encoding.name, {bytes_text(encoding.received_bytes), bytes_text(encoding.sent_bytes)});
    }
  }
  text += row("all of HTTP", {bytes_text(report.received_bytes), bytes_text(report.sent_bytes)});
  text +=
      "\nhost pool " + bytes_text(report.pool_used_bytes) + " used, " + bytes_text(report.pool_idle_bytes) + " idle";
  if (report.gpu) {
    text += "; GPU pools " + bytes_text(report.gpu->pool_used_bytes) + " used, " +
            bytes_text(report.gpu->pool_idle_bytes) + " idle; " + count_text(report.gpu->leases) + " leases of " +
            bytes_text(report.gpu->lent_bytes);
  }
  return text + "\nrequests cut off since its start: " + count_text(report.cut_off) + "\n\n" + limits_of(report);
}

std::string json_of(const TopReport& report) {
  nlohmann::json endpoints = nlohmann::json::array();
  for (const TopReport::Endpoint& endpoint : report.endpoints) {
    endpoints.push_back({{"tesseract", endpoint.tesseract},
                         {"endpoint", endpoint.endpoint},
                         {"requests_per_second", endpoint.requests},
                         {"errors_per_second", endpoint.errors},
                         {"statuses_per_second", endpoint.statuses},
                         {"p50_seconds", json_figure(endpoint.times.p50_s)},
                         {"p99_seconds", json_figure(endpoint.times.p99_s)}});
  }
  nlohmann::json parts = nlohmann::json::object();
  for (const TopReport::Part& part : report.parts) {
    parts[part.name] = {{"p50_seconds", json_figure(part.times.p50_s)}, {"p99_seconds", json_figure(part.times.p99_s)}};
  }
  nlohmann::json arrays = nlohmann::json::object();
  for (const TopReport::Encoding& encoding : report.arrays) {
    arrays[encoding.name] = {{"received_bytes_per_second", encoding.received_bytes},
                             {"sent_bytes_per_second", encoding.sent_bytes}};
  }
  nlohmann::json limits = nlohmann::json::object();
  for (const auto& [name, limit] : report.limits) {
    limits[name] = {{"hits", limit.hits}, {"hits_per_second", limit.hits_per_second}};
  }
  nlohmann::json gpu;
  if (report.gpu) {
    gpu = {{"leases", report.gpu->leases},
           {"lent_bytes", report.gpu->lent_bytes},
           {"pool_used_bytes", report.gpu->pool_used_bytes},
           {"pool_idle_bytes", report.gpu->pool_idle_bytes}};
  }
  const nlohmann::json document = {{"url", report.url},
                                   {"version", report.version},
                                   {"uptime_seconds", report.uptime_s},
                                   {"seconds", report.seconds},
                                   {"since_start", report.is_since_start},
                                   {"workers", report.workers},
                                   {"busy_workers", report.busy_workers},
                                   {"waiting_calls", report.waiting_calls},
                                   {"codecs", report.codecs},
                                   {"busy_codecs", report.busy_codecs},
                                   {"waiting_codecs", report.waiting_codecs},
                                   {"connections", report.connections},
                                   {"bodies_bytes", report.bodies_bytes},
                                   {"bodies_limit_bytes", report.bodies_limit_bytes},
                                   {"endpoints", endpoints},
                                   {"parts", parts},
                                   {"received_bytes_per_second", report.received_bytes},
                                   {"sent_bytes_per_second", report.sent_bytes},
                                   {"arrays", arrays},
                                   {"pool_used_bytes", report.pool_used_bytes},
                                   {"pool_idle_bytes", report.pool_idle_bytes},
                                   {"gpu", gpu},
                                   {"requests_cut_off", report.cut_off},
                                   {"limits", limits}};
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tessera
