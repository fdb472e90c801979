#include "tessera/daemon/config.h"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "tessera/base/ascii.h"
#include "tessera/base/python_text.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

/// A variable that was set, under the name that won.
struct Variable {
  std::string name;
  std::string value;

  [[nodiscard]] Error error(std::string_view allowed) const {
    return {ErrorCode::kInvalidArgument, name + "=" + python_repr(value) + ": must be " + std::string(allowed)};
  }
};

class Variables {
 public:
  explicit Variables(const GetVariable& get) : get_(get) {}

  [[nodiscard]] std::optional<Variable> find(const std::string& field) const {
    for (const char* prefix : {"TESSERACT_RUNTIME_", "TESSERACT_"}) {
      std::string name = prefix + field;
      if (std::optional<std::string> value = get_(name)) {
        return Variable{std::move(name), *std::move(value)};
      }
    }
    return std::nullopt;
  }

  void read(const std::string& field, std::optional<std::string>& into) const {
    if (std::optional<Variable> variable = find(field)) {
      into = std::move(variable->value);
    }
  }

  void read(const std::string& field, std::string& into) const {
    if (std::optional<Variable> variable = find(field)) {
      into = std::move(variable->value);
    }
  }

  [[nodiscard]] Status read(const std::string& field, bool& into) const {
    if (const std::optional<Variable> variable = find(field)) {
      const std::optional<bool> flag = parse_boolean(variable->value);
      if (!flag) {
        return variable->error("a boolean (1/0, true/false, yes/no, on/off, t/f, y/n)");
      }
      into = *flag;
    }
    return {};
  }

  [[nodiscard]] Status read_fraction(const std::string& field, double& into) const {
    if (const std::optional<Variable> variable = find(field)) {
      const std::string& text = variable->value;
      double fraction = 0.0;
      const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), fraction);
      if (fault != std::errc() || end != text.data() + text.size() || !(fraction >= 0.0 && fraction <= 1.0)) {
        return variable->error("a number from 0 to 1");
      }
      into = fraction;
    }
    return {};
  }

  /// Checks a text that the OpenAPI document shows. Upstream fails to start without a title or version, and fails to
  /// make the document of bytes that are not UTF-8.
  [[nodiscard]] Status check_shown(const std::string& field, bool is_needed) const {
    const std::optional<Variable> variable = find(field);
    if (variable && is_needed && variable->value.empty()) {
      return variable->error("a text (leave it unset for the Tesseract's own)");
    }
    if (variable && !is_utf8(variable->value)) {
      return Error(ErrorCode::kInvalidArgument,
                   variable->name + " must be UTF-8, but is '" + replaced_utf8(variable->value) + "'");
    }
    return {};
  }

 private:
  const GetVariable& get_;
};

Status read_encoding(const Variables& variables, RuntimeConfig& config) {
  if (const std::optional<Variable> variable = variables.find("OUTPUT_FORMAT")) {
    const std::optional<OutputFormat> format = find_output_format(variable->value);
    if (!format) {
      return variable->error("'json', 'json+base64' or 'json+binref'");
    }
    config.output_format = *format;
  }
  if (const std::optional<Variable> variable = variables.find("COMPRESSION")) {
    if (variable->value != name_of(Compression::kLz4)) {
      return variable->error("'lz4' (leave it unset for none)");
    }
    config.compression = Compression::kLz4;
  }
  if (const std::optional<Variable> variable = variables.find("GPU_TRANSPORT")) {
    if (variable->value != "none" && variable->value != "cuda_ipc") {
      return variable->error("'none' or 'cuda_ipc'");
    }
    config.gpu_transport = variable->value;
  }
  return {};
}

Result<std::filesystem::path> absolute_path(const std::filesystem::path& path) {
  std::error_code fault;
  const std::filesystem::path absolute = std::filesystem::absolute(path.empty() ? "." : path, fault);
  if (fault) {
    return Error(ErrorCode::kInvalidArgument, "cannot make '" + path.string() + "' absolute: " + fault.message());
  }
  return absolute.lexically_normal();
}

}  // namespace

std::optional<std::string> get_environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody here calls setenv
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<RuntimeConfig> config_from(const GetVariable& get) {
  const Variables variables(get);
  RuntimeConfig config;
  variables.read("NAME", config.name);
  variables.read("VERSION", config.version);
  variables.read("DESCRIPTION", config.description);
  variables.read("OUTPUT_FILE", config.output_file);
  for (const char* field : {"NAME", "VERSION", "DESCRIPTION"}) {
    TESSERA_RETURN_IF_ERROR(variables.check_shown(field, field != std::string_view("DESCRIPTION")));
  }
  TESSERA_RETURN_IF_ERROR(variables.read("DEBUG", config.debug));
  TESSERA_RETURN_IF_ERROR(variables.read("PROFILING", config.profiling));
  TESSERA_RETURN_IF_ERROR(variables.read("TRACING", config.tracing));
  TESSERA_RETURN_IF_ERROR(read_encoding(variables, config));
  TESSERA_RETURN_IF_ERROR(variables.read_fraction("CUDA_IPC_POOL_FRACTION", config.cuda_ipc_pool_fraction));
  // As upstream reads it: nothing but these is a yes.
  const std::string forbid = lower_case(get("TESSERACT_FORBID_DEVICE_HOST_COPY").value_or(""));
  config.forbid_device_host_copy = forbid == "1" || forbid == "true";
  std::string input_path;
  std::string output_path;
  variables.read("INPUT_PATH", input_path);
  variables.read("OUTPUT_PATH", output_path);
  TESSERA_ASSIGN_OR_RETURN(config.input_path, absolute_path(input_path));
  TESSERA_ASSIGN_OR_RETURN(config.output_path, absolute_path(output_path));
  return config;
}

std::optional<bool> parse_boolean(std::string_view text) {
  const std::string lower = lower_case(text);
  for (const std::string_view yes : {"1", "true", "yes", "on", "t", "y"}) {
    if (lower == yes) {
      return true;
    }
  }
  for (const std::string_view no : {"0", "false", "no", "off", "f", "n"}) {
    if (lower == no) {
      return false;
    }
  }
  return std::nullopt;
}

}  // namespace tessera
