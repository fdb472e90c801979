// The Context of calls without a run: abstract_eval and test.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "request_record.h"
#include "tessera/tesseract/context.h"

namespace tessera {

/// Hands lines to the daemon's log; metrics, parameters and artifacts have no run to belong to and are dropped.
class DaemonContext final : public Context {
 public:
  /// `id` of the request, which outlives this.
  DaemonContext(const ServiceParts& parts, std::string_view id) : parts_(parts), id_(id) {}

  [[nodiscard]] std::shared_ptr<GpuSystem> gpus() override { return parts_.gpu.gpus(); }
  void log(std::string_view line) override { parts_.logger.info("endpoint says", {{"line", line}, {"id", id_}}); }
  void log_metric(std::string_view /*key*/, double /*value*/, std::optional<std::int64_t> /*step*/) override {}
  void log_parameter(std::string_view /*key*/, const Value& /*value*/) override {}
  void log_artifact(const std::filesystem::path& /*file*/) override {}

 private:
  const ServiceParts& parts_;
  std::string_view id_;
};

}  // namespace tessera
