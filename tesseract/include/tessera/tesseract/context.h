// What an endpoint can tell the world while it runs: lines of the run's log, metrics, parameters, artifacts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/array/value.h"

namespace tessera {

class GpuSystem;  // tessera/ipc/gpu_system.h

/// The run that a call belongs to, as its endpoint sees it (PROTOCOL.md section 13.1). Over HTTP abstract_eval and the
/// test endpoint have no run: lines go to the daemon's log, the rest is dropped. Valid during the call. Methods may be
/// called from any thread of the endpoint; what they throw is an EndpointError (OSError, FileNotFoundError).
class Context {
 public:
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  virtual ~Context() = default;

  /// The GPUs of this process, to make arrays in GPU memory; the first call may start CUDA. A system without a GPU says
  /// why (GpuSystem::problem()). nullptr in a program that has none to give.
  [[nodiscard]] virtual std::shared_ptr<GpuSystem> gpus() { return nullptr; }

  /// Writes one line (a newline is added) to the run's log; the way to log that also works with several workers.
  virtual void log(std::string_view line) = 0;
  /// Records a metric. Without a step, it is how often this key was recorded before, from 0. A key may hold any text
  /// (what is not UTF-8 is replaced; commas, quotes and line ends are quoted as CSV has it). A value is written as
  /// Python writes it: NaN and infinities are `nan`, `inf` and `-inf`.
  virtual void log_metric(std::string_view key, double value, std::optional<std::int64_t> step = std::nullopt) = 0;
  /// Records a parameter of the run, any value (an array is shown as words). Of a key that comes twice the last counts.
  virtual void log_parameter(std::string_view key, const Value& value) = 0;
  /// Copies a regular file into the run's artifacts under its own file name, replacing one of that name.
  virtual void log_artifact(const std::filesystem::path& file) = 0;
};

/// Drops everything; for tests and programs that call endpoints themselves.
class SilentContext final : public Context {
 public:
  void log(std::string_view /*line*/) override {}
  void log_metric(std::string_view /*key*/, double /*value*/, std::optional<std::int64_t> /*step*/) override {}
  void log_parameter(std::string_view /*key*/, const Value& /*value*/) override {}
  void log_artifact(const std::filesystem::path& /*file*/) override {}
};

}  // namespace tessera
