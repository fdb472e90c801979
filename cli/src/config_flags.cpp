#include "config_flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cctype>

#include "command.h"

namespace tessera {
namespace {

constexpr const char* kGroup = "Configuration (each also as a variable TESSERACT_<NAME>)";

std::string variable_of(const std::string& field) {
  return "TESSERACT_RUNTIME_" + field;
}

std::string flag_of(const std::string& field) {
  std::string flag = "--";
  for (const char c : field) {
    flag += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return flag;
}

// The configuration speaks of variables; who typed a flag should read of that flag.
std::string in_words_of_flag(const std::string& message, const std::string& field) {
  const std::string start = variable_of(field) + "=";
  return "Invalid value for '" + flag_of(field) +
         "': " + (message.starts_with(start) ? message.substr(start.size()) : message);
}

}  // namespace

void ConfigFlags::add_text(CLI::App& app, const std::string& names, const std::string& field,
                           const std::string& type_name, const std::string& description) {
  app.add_option(names, values_[field], description)
      ->type_name(type_name)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group(kGroup);
}

void ConfigFlags::add_switch(CLI::App& app, const std::string& name, const std::string& field,
                             const std::string& description) {
  app.add_flag_callback(name, [this, field]() { values_[field] = "1"; }, description)->group(kGroup);
}

void ConfigFlags::add_to(CLI::App& app) {
  add_text(app, "-i,--input-path", "INPUT_PATH", "DIR", "Where array files of inputs lie (default: current folder)");
  add_text(app, "-o,--output-path", "OUTPUT_PATH", "DIR",
           "Where logs and array files go (default: current folder); made if it is not there");
  add_text(app, "-f,--output-format", "OUTPUT_FORMAT", "FORMAT",
           "How arrays are written: json (default), json+base64, json+binref");
  add_text(app, "--compression", "COMPRESSION", "NAME", "Compresses the arrays of outputs: lz4");
  add_text(app, "--gpu-transport", "GPU_TRANSPORT", "NAME", "How GPU arrays travel: none (default), cuda_ipc");
  add_text(app, "--cuda-ipc-pool-fraction", "CUDA_IPC_POOL_FRACTION", "0…1",
           "Share of each GPU's memory that idle buffers may keep (default: 0.25)");
  add_text(app, "--name", "NAME", "TEXT", "The name that the OpenAPI document shows");
  add_text(app, "--version", "VERSION", "TEXT", "The version that the OpenAPI document shows");
  add_text(app, "--description", "DESCRIPTION", "TEXT", "The description that the OpenAPI document shows");
  add_switch(app, "--debug", "DEBUG", "Show what went wrong in answers, and serve /test");
  add_switch(app, "--profiling", "PROFILING", "Accepted, as tesseract-runtime has it; without effect");
  add_switch(app, "--tracing", "TRACING", "Accepted, as tesseract-runtime has it; without effect");
}

void ConfigFlags::add_output_file_to(CLI::App& app) {
  add_text(app, "--output-file", "OUTPUT_FILE", "NAME",
           "Write the result to this file below the output path, not to standard output");
}

RuntimeConfig ConfigFlags::load() const {
  for (const auto& flag : values_) {
    const auto only_this = [&flag](const std::string& name) {
      return name == variable_of(flag.first) ? flag.second : std::nullopt;
    };
    if (const Result<RuntimeConfig> checked = config_from(only_this); !checked) {
      throw CommandError(ExitCode::kUsage, in_words_of_flag(checked.error().message(), flag.first));
    }
  }
  Result<RuntimeConfig> config = config_from([this](const std::string& name) -> std::optional<std::string> {
    for (const auto& [field, value] : values_) {
      if (value && name == variable_of(field)) {
        return value;
      }
    }
    return get_environment_variable(name);
  });
  if (!config) {
    throw CommandError(ExitCode::kFailure, config.error().message());
  }
  return *std::move(config);
}

bool ConfigFlags::is_set(const std::string& field) const {
  const auto flag = values_.find(field);
  return (flag != values_.end() && flag->second) || get_environment_variable(variable_of(field)).has_value() ||
         get_environment_variable("TESSERACT_" + field).has_value();
}

}  // namespace tessera
