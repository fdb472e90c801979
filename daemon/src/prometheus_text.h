// Lines of the text exposition format of Prometheus, version 0.0.4.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "time_histogram.h"

namespace tessera {

void append_metric_head(std::string& text, std::string_view name, std::string_view type, std::string_view help);
/// A metric with one sample, and no labels.
void append_gauge(std::string& text, std::string_view name, std::string_view help, std::uint64_t value);
void append_counter(std::string& text, std::string_view name, std::string_view help, std::uint64_t value);
/// One sample, with one label. Requires: a label value without quotes, backslashes and newlines.
void append_sample(std::string& text, std::string_view name, std::string_view label, std::string_view label_value,
                   std::uint64_t value);
/// The samples of a histogram; none if it counted nothing. `labels`: `endpoint="apply",part="wait"`.
void append_histogram(std::string& text, std::string_view name, std::string_view labels, const HistogramCounts& counts);

}  // namespace tessera
