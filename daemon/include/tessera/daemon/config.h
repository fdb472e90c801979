// What a daemon or a single run is configured by: TESSERACT_* variables, then flags (PROTOCOL.md section 11).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/array/encoding.h"
#include "tessera/base/result.h"

namespace tessera {

/// Behaviour of what is served, as the Python runtime's configuration has it. A plain value.
struct RuntimeConfig {
  std::optional<std::string> name;          ///< info.title; else the Tesseract's own name
  std::optional<std::string> version;       ///< info.version; else the Tesseract's own
  std::optional<std::string> description;   ///< info.description; else the Tesseract's own
  bool debug = false;                       ///< tracebacks in 500s, /test
  std::filesystem::path input_path = ".";   ///< made absolute by config_from(); need not be there
  std::filesystem::path output_path = ".";  ///< made absolute too; made by Daemon::start(), or for a run
  OutputFormat output_format = OutputFormat::kJson;
  Compression compression = Compression::kNone;
  std::string output_file;               ///< command line only: below the output path
  std::string gpu_transport = "none";    ///< "none", "cuda_ipc"
  double cuda_ipc_pool_fraction = 0.25;  ///< 0 to 1
  bool forbid_device_host_copy = false;  ///< TESSERACT_FORBID_DEVICE_HOST_COPY: no array leaves its GPU by a copy
  bool profiling = false;                ///< read, and without effect
  bool tracing = false;                  ///< read, and without effect
};

/// Looks up an environment variable; nothing if it is not set. Called by config_from() on its own thread, not kept.
using GetVariable = std::function<std::optional<std::string>(const std::string& name)>;
/// getenv(3): not while another thread sets variables.
[[nodiscard]] std::optional<std::string> get_environment_variable(const std::string& name);

/// Reads TESSERACT_<FIELD> and, winning over it, TESSERACT_RUNTIME_<FIELD>. Unknown variables are ignored; an
/// empty path is the current folder. Safe to call from any thread from which `get` is. Errors: kInvalidArgument, naming
/// the variable, its value and what is allowed.
[[nodiscard]] Result<RuntimeConfig> config_from(const GetVariable& get);

/// Reads "1", "true", "yes", "on", "t", "y" and their opposites, in any case; nothing for other texts. Safe to
/// call from any thread.
[[nodiscard]] std::optional<bool> parse_boolean(std::string_view text);

}  // namespace tessera
