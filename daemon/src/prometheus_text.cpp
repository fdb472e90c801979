#include "prometheus_text.h"

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

}  // namespace tessera
