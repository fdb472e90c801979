// What a part of the kit found out: one line of JSON each, written at once, so that a part that is stopped keeps what
// it had.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace tessera::gpu_kit {

/// One thread at a time. Each call prints the row, too.
class Rows {
 public:
  /// Of the file that the variable KIT_ROWS names; without it they are printed only.
  Rows();

  void passed(const std::string& name, const std::string& text = "");
  void failed(const std::string& name, const std::string& reason);
  void skipped(const std::string& name, const std::string& reason);
  /// What no rule says: an answer to a question, with the figures behind it.
  void answer(const std::string& name, const std::string& text, const nlohmann::json& figures = nullptr);

  [[nodiscard]] bool has_failed() const { return has_failed_; }

 private:
  void write(const char* state, const std::string& name, const std::string& text, const nlohmann::json& figures);

  std::ofstream file_;
  bool has_failed_ = false;
};

/// The value of a variable, or what is assumed without one.
[[nodiscard]] std::string variable_or(const char* name, const std::string& assumed);
/// KIT_MAX_BYTES: the largest array that a part makes. 1 GiB if it is not set.
[[nodiscard]] std::size_t most_bytes();
/// "2 MiB"
[[nodiscard]] std::string size_text(std::size_t size_bytes);

}  // namespace tessera::gpu_kit
