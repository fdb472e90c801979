#include "negotiation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "tessera/array/json_scanner.h"
#include "tessera/array/python_number.h"
#include "tessera/base/ascii.h"
#include "tessera/base/python_text.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

// What Python's str.strip() takes off, among the characters of latin-1.
bool is_space(char character) {
  const auto code = static_cast<unsigned char>(character);
  return code == ' ' || (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x1f) || code == 0x85 ||
         code == 0xa0;
}

std::string_view strip(std::string_view text) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::string_view strip_quotes(std::string_view text) {
  while (!text.empty() && text.front() == '"') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == '"') {
    text.remove_suffix(1);
  }
  return text;
}

/// Takes the text up to the next `separator` off the front.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return part;
}

/// A quality as Python's float() reads it; 0 if it refuses it.
double quality_of(std::string_view text) {
  return parse_python_float(strip(text)).value_or(0.0);
}

MediaRange parse_media_range(std::string_view part) {
  MediaRange range;
  range.media_type = lower_case(strip(take_until(part, ';')));
  while (!part.empty()) {
    std::string_view value = take_until(part, ';');
    if (value.find('=') == std::string_view::npos) {
      continue;
    }
    const std::string name = lower_case(strip(take_until(value, '=')));
    value = strip_quotes(strip(value));
    if (name == "q") {
      range.quality = quality_of(value);
    } else if (name == "gpu_transport") {
      range.gpu_transport = value;
    } else if (name == "compression") {
      range.compression = value;
    }
  }
  return range;
}

std::optional<OutputFormat> format_of(const MediaRange& range, OutputFormat default_format) {
  if (range.media_type == "*/*" || range.media_type == "application/*") {
    return default_format;
  }
  const std::size_t slash = range.media_type.rfind('/');
  return find_output_format(std::string_view(range.media_type).substr(slash == std::string::npos ? 0 : slash + 1));
}

using Ranges = std::vector<MediaRange>;

Ranges sorted_by_quality(Ranges ranges) {
  // Of equal quality, what comes first stays first. (std::stable_sort of libstdc++ 12 warns of itself under clang.)
  std::multimap<double, MediaRange, std::greater<>> by_quality;
  for (MediaRange& range : ranges) {
    by_quality.emplace(std::isnan(range.quality) ? 0.0 : range.quality, std::move(range));
  }
  ranges.clear();
  for (auto& [quality, range] : by_quality) {
    ranges.push_back(std::move(range));
  }
  return ranges;
}

// Lists below this size Python sorts by insertion, longer ones by merging.
constexpr std::size_t kMaxInsertionSorted = 64;

/// Where a NaN goes depends on how one sorts: this is the `sorted(…, reverse=True)` of CPython, which turns the list
/// round, puts what its first run leaves into their places by bisection, and turns it round again.
Ranges sorted_like_python(Ranges ranges) {
  const auto is_less = [](const MediaRange& left, const MediaRange& right) { return left.quality < right.quality; };
  std::ranges::reverse(ranges);
  auto run = std::ranges::is_sorted_until(ranges, is_less);
  if (ranges.size() > 1 && is_less(ranges[1], ranges[0])) {
    const auto is_not_falling = [&is_less](const MediaRange& left, const MediaRange& right) {
      return !is_less(right, left);
    };
    const auto last = std::ranges::adjacent_find(ranges, is_not_falling);
    run = last == ranges.end() ? last : last + 1;
    std::reverse(ranges.begin(), run);
  }
  for (; run != ranges.end(); ++run) {
    std::rotate(std::upper_bound(ranges.begin(), run, *run, is_less), run, run + 1);
  }
  std::ranges::reverse(ranges);
  return ranges;
}

std::string latin1_to_utf8(std::string_view text) {
  std::string utf8;
  utf8.reserve(text.size());
  for (const char character : text) {
    append_utf8(utf8, static_cast<unsigned char>(character));
  }
  return utf8;
}

}  // namespace

std::vector<MediaRange> parse_accept(std::string_view accept) {
  std::vector<MediaRange> ranges;
  bool has_nan = false;
  while (!accept.empty()) {
    const std::string_view part = take_until(accept, ',');
    if (!strip(part).empty()) {
      ranges.push_back(parse_media_range(part));
      has_nan = has_nan || std::isnan(ranges.back().quality);
    }
  }
  return has_nan && ranges.size() < kMaxInsertionSorted ? sorted_like_python(std::move(ranges))
                                                        : sorted_by_quality(std::move(ranges));
}

std::optional<Encoding> negotiate(std::optional<std::string_view> accept, const EncodingOffer& offer) {
  if (!accept || accept->empty()) {
    return Encoding{offer.default_format, offer.default_compression, "none"};
  }
  for (const MediaRange& range : parse_accept(*accept)) {
    const std::optional<OutputFormat> format = format_of(range, offer.default_format);
    const std::optional<Compression> compression =
        range.compression ? find_compression(*range.compression) : offer.default_compression;
    const auto transport = std::ranges::find(offer.gpu_transports, range.gpu_transport.value_or("none"));
    if (format && compression && transport != offer.gpu_transports.end()) {
      return Encoding{*format, *compression, *transport};
    }
  }
  return std::nullopt;
}

std::string not_acceptable_body(std::string_view accept, const EncodingOffer& offer) {
  std::string body = R"({"detail":{"message":)";
  append_json_text(body, "Cannot produce any encoding accepted by " + python_repr(latin1_to_utf8(accept)));
  body += R"(,"available_formats":["json","json+base64","json+binref"],"available_gpu_transports":[)";
  for (const std::string& transport : offer.gpu_transports) {
    if (body.back() != '[') {
      body += ',';
    }
    append_json_text(body, transport);
  }
  body += R"(],"available_compressions":["none","lz4"]}})";
  return body;
}

bool prefers_html(std::optional<std::string_view> accept) {
  if (!accept) {
    return false;
  }
  for (const MediaRange& range : parse_accept(*accept)) {
    if (range.media_type == "text/html" || range.media_type == "application/xhtml+xml") {
      return range.quality > 0.0;
    }
    if (range.media_type == "application/json" || range.media_type == "application/*" || range.media_type == "*/*") {
      return false;
    }
  }
  return false;
}

}  // namespace tessera
