#include "metrics_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace tessera {
namespace {

std::optional<double> number_of(std::string_view text) {
  if (text == "+Inf") {
    return std::numeric_limits<double>::infinity();
  }
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// Reads `key="value",…` up to the brace; false for anything else.
bool read_labels(std::string_view& rest, MetricSample& sample) {
  while (!rest.starts_with('}')) {
    const std::size_t quote = rest.find("=\"");
    const std::size_t end = quote == std::string_view::npos ? quote : rest.find('"', quote + 2);
    if (end == std::string_view::npos) {
      return false;
    }
    sample.labels.emplace_back(rest.substr(0, quote), rest.substr(quote + 2, end - quote - 2));
    rest.remove_prefix(end + 1);
    if (rest.starts_with(',')) {
      rest.remove_prefix(1);
    }
  }
  rest.remove_prefix(1);
  return true;
}

std::optional<MetricSample> sample_of(std::string_view line) {
  MetricSample sample;
  const std::size_t name_end = line.find_first_of("{ ");
  if (name_end == std::string_view::npos || name_end == 0) {
    return std::nullopt;
  }
  sample.name = line.substr(0, name_end);
  std::string_view rest = line.substr(name_end);
  if (rest.starts_with('{')) {
    rest.remove_prefix(1);
    if (!read_labels(rest, sample)) {
      return std::nullopt;
    }
  }
  if (!rest.starts_with(' ')) {
    return std::nullopt;
  }
  const std::optional<double> number = number_of(rest.substr(1));
  sample.value = number.value_or(0);
  return number ? std::optional(std::move(sample)) : std::nullopt;
}

}  // namespace

std::string_view MetricSample::label(std::string_view key) const {
  const auto found = std::ranges::find_if(labels, [&](const auto& one) { return one.first == key; });
  return found == labels.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<MetricsText> MetricsText::parse(std::string_view text) {
  MetricsText metrics;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    std::optional<MetricSample> sample = sample_of(line);
    if (!sample) {
      return std::nullopt;
    }
    metrics.samples.push_back(*std::move(sample));
  }
  return metrics;
}

std::optional<double> MetricsText::value(std::string_view name) const {
  const auto found = std::ranges::find(samples, name, &MetricSample::name);
  return found == samples.end() ? std::nullopt : std::optional(found->value);
}

}  // namespace tessera
