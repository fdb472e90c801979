// Reads what a server says of itself in the text format of Prometheus.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// One line of it. A plain value.
struct MetricSample {
  /// The value of a label; empty if it has none of that name.
  [[nodiscard]] std::string_view label(std::string_view key) const;

  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

/// All samples of one answer. A plain value.
struct MetricsText {
  /// Nothing if a line is neither a sample nor a comment.
  [[nodiscard]] static std::optional<MetricsText> parse(std::string_view text);

  /// The value of a metric without labels; nothing if it is not there.
  [[nodiscard]] std::optional<double> value(std::string_view name) const;

  std::vector<MetricSample> samples;
};

}  // namespace tessera
