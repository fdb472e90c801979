#include "prometheus_text.h"

#include <numeric>

#include "tessera/base/python_text.h"

namespace tessera {
namespace {

void append_single(std::string& text, std::string_view name, std::string_view type, std::string_view help,
                   std::uint64_t value) {
  append_metric_head(text, name, type, help);
  text.append(name).append(" ").append(std::to_string(value)).append("\n");
}

}  // namespace

void append_metric_head(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  text.append("# HELP ").append(name).append(" ").append(help);
  text.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

void append_gauge(std::string& text, std::string_view name, std::string_view help, std::uint64_t value) {
  append_single(text, name, "gauge", help, value);
}

void append_counter(std::string& text, std::string_view name, std::string_view help, std::uint64_t value) {
  append_single(text, name, "counter", help, value);
}

void append_sample(std::string& text, std::string_view name, std::string_view label, std::string_view label_value,
                   std::uint64_t value) {
  text.append(name).append("{").append(label).append("=\"").append(label_value).append("\"} ");
  text.append(std::to_string(value)).append("\n");
}

void append_histogram(std::string& text, std::string_view name, std::string_view labels,
                      const HistogramCounts& counts) {
  const std::uint64_t all = std::accumulate(counts.counts.begin(), counts.counts.end(), std::uint64_t{0});
  if (all == 0) {
    return;
  }
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < HistogramCounts::kBuckets; ++i) {
    count += counts.counts[i];
    const bool is_last = i + 1 == HistogramCounts::kBuckets;
    text.append(name).append("_bucket{").append(labels).append(",le=\"");
    text.append(is_last ? "+Inf" : python_repr(static_cast<double>(std::uint64_t{1} << i) / 1e6));
    text.append("\"} ").append(std::to_string(count)).append("\n");
  }
  text.append(name).append("_sum{").append(labels).append("} ");
  text.append(python_repr(static_cast<double>(counts.sum_ns) / 1e9)).append("\n");
  text.append(name).append("_count{").append(labels).append("} ").append(std::to_string(all)).append("\n");
}

}  // namespace tessera
