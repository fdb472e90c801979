// The flags that set what TESSERACT_* variables set, and win over them (PROTOCOL.md section 11).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tessera/daemon/config.h"

namespace CLI {  // NOLINT(readability-identifier-naming): its own
class App;
}

namespace tessera {

/// Collects the flags of one command line, then makes the configuration. One thread at a time.
class ConfigFlags {
 public:
  ConfigFlags() = default;
  ConfigFlags(const ConfigFlags&) = delete;
  ConfigFlags& operator=(const ConfigFlags&) = delete;

  /// Declares the flags. The object outlives `app`.
  void add_to(CLI::App& app);
  /// Declares --output-file too, which only makes sense for a single run.
  void add_output_file_to(CLI::App& app);

  /// The environment with the flags over it. Throws CommandError: kUsage for a flag, kFailure for a variable.
  [[nodiscard]] RuntimeConfig load() const;
  /// Whether a field is set by a flag or by a variable.
  [[nodiscard]] bool is_set(const std::string& field) const;

 private:
  void add_text(CLI::App& app, const std::string& names, const std::string& field, const std::string& type_name,
                const std::string& description);
  void add_switch(CLI::App& app, const std::string& name, const std::string& field, const std::string& description);

  // By field in upper case, as in the name of a variable. CLI11 holds references to the values.
  std::map<std::string, std::optional<std::string>> values_;
};

}  // namespace tessera
