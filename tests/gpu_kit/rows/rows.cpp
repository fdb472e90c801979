#include "rows/rows.h"

#include <cstdlib>
#include <iostream>
#include <utility>

namespace tessera::gpu_kit {

Rows::Rows() {
  if (const std::string path = variable_or("KIT_ROWS", ""); !path.empty()) {
    file_.open(path, std::ios::app);
  }
}

void Rows::write(const char* state, const std::string& name, const std::string& text, const nlohmann::json& figures) {
  std::cout << state << "  " << name << (text.empty() ? "" : ": ") << text << '\n' << std::flush;
  nlohmann::ordered_json row{{"state", state}, {"name", name}, {"text", text}};
  if (!figures.is_null()) {
    row["figures"] = figures;
  }
  file_ << row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n' << std::flush;
}

void Rows::passed(const std::string& name, const std::string& text) {
  write("passed", name, text, nullptr);
}

void Rows::failed(const std::string& name, const std::string& reason) {
  has_failed_ = true;
  write("failed", name, reason, nullptr);
}

void Rows::skipped(const std::string& name, const std::string& reason) {
  write("skipped", name, reason, nullptr);
}

void Rows::answer(const std::string& name, const std::string& text, const nlohmann::json& figures) {
  write("answer", name, text, figures);
}

std::string variable_or(const char* name, const std::string& assumed) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets variables
  return value == nullptr ? assumed : value;
}

std::size_t most_bytes() {
  return std::stoull(variable_or("KIT_MAX_BYTES", std::to_string(std::size_t{1} << 30U)));
}

std::string size_text(std::size_t size_bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (unit < 3 && size_bytes >= 1024 && size_bytes % 1024 == 0) {
    size_bytes /= 1024;
    ++unit;
  }
  return std::to_string(size_bytes) + " " + units[unit];
}

}  // namespace tessera::gpu_kit
