#include "service.h"

#include <algorithm>
#include <string>
#include <utility>

#include "answers.h"
#include "endpoint_call.h"
#include "gpu_check.h"
#include "gpu_exchange.h"
#include "gpu_pages.h"
#include "index_page.h"
#include "metrics.h"
#include "negotiation.h"
#include "request_record.h"
#include "request_target.h"
#include "router.h"
#include "served_tesseract.h"
#include "test_call.h"

namespace tessera {
namespace {

using Definitions = std::vector<std::shared_ptr<const TesseractDefinition>>;

std::vector<Endpoint> endpoints_of(const TesseractDefinition& definition) {
  std::vector<Endpoint> endpoints;
  for (std::size_t i = 0; i < kEndpointCount; ++i) {
    if (definition.has(static_cast<Endpoint>(i))) {
      endpoints.push_back(static_cast<Endpoint>(i));
    }
  }
  return endpoints;
}

Status check_options(const DaemonOptions& options, const Definitions& definitions) {
  if (definitions.empty()) {
    return Error(ErrorCode::kInvalidArgument, "there is no Tesseract to serve");
  }
  for (const auto& definition : definitions) {
    TESSERA_RETURN_IF_ERROR(definition->check());
  }
  const RuntimeConfig& config = options.config;
  if (config.gpu_transport != "none" && config.gpu_transport != "cuda_ipc") {
    return Error(ErrorCode::kInvalidArgument,
                 "gpu_transport='" + config.gpu_transport + "' is configured; there are 'none' and 'cuda_ipc'");
  }
  if (definitions.size() > 1 && (config.name || config.version || config.description)) {
    return Error(ErrorCode::kInvalidArgument,
                 "TESSERACT_NAME, TESSERACT_VERSION and TESSERACT_DESCRIPTION describe one Tesseract, but " +
                     std::to_string(definitions.size()) + " are to be served");
  }
  return {};
}

Result<Router> make_router(const DaemonOptions& options, const Definitions& definitions) {
  std::vector<RoutedTesseract> routed;
  routed.reserve(definitions.size());
  for (const auto& definition : definitions) {
    routed.push_back({definition->name(), endpoints_of(*definition)});
  }
  return Router::make(routed, options.config.debug, options.config.gpu_transport != "none");
}

/// Opens a folder of inputs. As upstream has it, it need not be there: it is only read, perhaps where nothing can be
/// made.
Result<ConfinedFolder> open_input_folder(const std::filesystem::path& path) {
  std::error_code fault;
  return std::filesystem::exists(path, fault) || fault ? ConfinedFolder::open(path) : ConfinedFolder::at(path);
}

/// Opens a folder of outputs, and makes it first if it is not there.
Result<ConfinedFolder> open_output_folder(const std::filesystem::path& path, Logger& logger) {
  std::error_code fault;
  // What is no folder is not even there under a name that ends with a slash.
  const std::filesystem::path plain = path.has_filename() ? path : path.parent_path();
  if (std::filesystem::exists(plain, fault) && !std::filesystem::is_directory(plain, fault)) {
    return Error(ErrorCode::kInvalidArgument, "cannot write to '" + plain.string() + "': it is not a folder");
  }
  if (std::filesystem::create_directories(path, fault)) {
    logger.info("made a folder that was not there", {{"path", path.native()}});
  }
  if (fault) {
    return Error(ErrorCode::kInvalidArgument, "cannot make the folder '" + path.string() + "': " + fault.message());
  }
  return ConfinedFolder::open(path);
}

std::vector<std::string> names_of(const Definitions& definitions) {
  std::vector<std::string> names;
  names.reserve(definitions.size());
  for (const auto& definition : definitions) {
    names.push_back(definition->name());
  }
  return names;
}

std::vector<std::string> gpu_transports_of(const RuntimeConfig& config) {
  return config.gpu_transport == "none" ? std::vector<std::string>{"none"}
                                        : std::vector<std::string>{"none", config.gpu_transport};
}

class TesseractService final : public Service {
 public:
  TesseractService(const DaemonOptions& options, Router router, std::unique_ptr<GpuExchange> gpu,
                   std::vector<std::unique_ptr<ServedTesseract>> tesseracts, std::vector<std::string> names,
                   StandardOutput output, Logger& logger, const Clock& clock)
      : options_(options),
        offer_{options.config.output_format, options.config.compression, gpu_transports_of(options.config)},
        router_(std::move(router)),
        gpu_(std::move(gpu)),
        tesseracts_(std::move(tesseracts)),
        output_(std::move(output)),
        metrics_(std::move(names), clock.wall_now()),
        began_(clock.now()),
        wall_began_(clock.wall_now()),
        parts_{options_, offer_, metrics_, *gpu_, logger, clock, output_} {
    std::vector<IndexEntry> entries;
    entries.reserve(tesseracts_.size());
    for (const auto& tesseract : tesseracts_) {
      entries.push_back(index_entry(*tesseract->definition, options_.config.debug));
    }
    index_json_ = index_json(entries);
    index_html_ = index_html(entries);
  }

  void head_arrived(const Request& head) override {
    if (head.exports_done) {
      gpu_->release_named(*head.exports_done);
    }
  }

  std::optional<Response> refuse_unread(const Request& head) override {
    RequestRecord record(parts_, head);
    std::optional<Response> refusal = refuse(find_route(head, record), head);
    if (refusal) {
      refusal->without_body = head.method == "HEAD";
    }
    return refusal;
  }

  [[nodiscard]] bool may_wait_for_gpu(const Request& request) const override {
    return gpu_->transport() != nullptr && may_name_gpu_arrays(request.body.unfolded_part());
  }

  RefusalOrCall begin(const Request& request) override {
    RequestRecord record(parts_, request);
    RefusalOrCall result;
    try {
      result = answer(request, record);
    } catch (...) {
      result = record.fail(current_failure(), request.accept);
    }
    if (auto* const response = std::get_if<Response>(&result)) {
      response->without_body = request.method == "HEAD";
    }
    return result;
  }

  void answering(const RequestReport& report) override { metrics_.count_answer(report); }

  void request_over(const RequestReport& report) override {
    metrics_.count_end(report);
    log_end(parts_.logger, report);
  }

  [[nodiscard]] LimitCounters& limits() override { return metrics_.limits(); }

  [[nodiscard]] std::uint64_t awaited_exports() const override { return gpu_->registry().stats().acknowledging; }

  bool remove_old_runs() override {
    if (!options_.keep_runs) {
      return false;
    }
    const auto passed = std::chrono::duration_cast<Clock::WallTime::duration>(parts_.clock.now() - began_);
    const RunCleanup::Now now{.by_wall_clock = parts_.clock.wall_now(), .by_steady_clock = wall_began_ + passed};
    bool has_more = false;
    for (const auto& tesseract : tesseracts_) {
      const int removed = tesseract->runs.remove_older_than(*options_.keep_runs, now);
      has_more = has_more || removed == RunCleanup::kMaxRemovals;
      if (removed > 0) {
        parts_.logger.info("removed old runs", {{"tesseract", tesseract->definition->name()},
                                                {"runs", static_cast<std::int64_t>(removed)}});
      }
    }
    return has_more;
  }

 private:
  static IndexEntry index_entry(const TesseractDefinition& definition, bool debug) {
    // As `tessera list` has it: what the author says of it, or of its apply.
    const std::string& description = definition.description();
    IndexEntry entry{definition.name(),
                     definition.version(),
                     description.empty() ? definition.documentation(Endpoint::kApply) : description,
                     {}};
    for (const Endpoint endpoint : endpoints_of(definition)) {
      entry.endpoints.emplace_back(name_of(endpoint));
    }
    if (debug) {
      entry.endpoints.emplace_back(name_of(RouteKind::kTest));
    }
    return entry;
  }

  RouteMatch find_route(const Request& request, RequestRecord& record) const {
    RouteMatch match = router_.find(request.method, percent_decoded(split_target(request.target).path));
    record.set_route(match.route, match.route.tesseract ? tesseracts_[*match.route.tesseract]->definition->name()
                                                        : std::string_view());
    return match;
  }

  /// The answer to what leads nowhere.
  static std::optional<Response> refuse(const RouteMatch& match, const Request& request) {
    switch (match.outcome) {
      case RouteMatch::Outcome::kNotFound:
        return detail_answer(404, "Not Found");
      case RouteMatch::Outcome::kMethodNotAllowed:
        return method_not_allowed(match.allow);
      case RouteMatch::Outcome::kRedirect:
        return redirect_answer(request, match.location);
      case RouteMatch::Outcome::kFound:
        break;
    }
    return std::nullopt;
  }

  RefusalOrCall answer(const Request& request, RequestRecord& record) {
    const RouteMatch match = find_route(request, record);
    if (std::optional<Response> refusal = refuse(match, request)) {
      return *std::move(refusal);
    }
    return match.route.tesseract ? answer_for(*tesseracts_[*match.route.tesseract], request, record)
                                 : answer_at_root(match.route.kind, request);
  }

  RefusalOrCall answer_for(ServedTesseract& tesseract, const Request& request, const RequestRecord& record) {
    switch (record.route().kind) {
      case RouteKind::kHealth:
        return health();
      case RouteKind::kOpenApi:
        return json_answer(200, tesseract.openapi);
      case RouteKind::kDocs:
        return text_answer(200, "text/html; charset=utf-8", docs_page_at(tesseract.docs, request));
      case RouteKind::kGpuCheck:
        return answer_gpu_check(*gpu_, request);
      case RouteKind::kTest:
        return begin_test_call(parts_, tesseract, request, record);
      default:
        return begin_endpoint_call(parts_, tesseract, request, record);
    }
  }

  Response answer_at_root(RouteKind kind, const Request& request) const {
    if (kind == RouteKind::kMetrics) {
      return text_answer(200, "text/plain; version=0.0.4; charset=utf-8",
                         metrics_.to_text(request.server) + gpu_metrics(*gpu_));
    }
    if (kind == RouteKind::kGpu) {
      return json_answer(200, gpu_json(*gpu_));
    }
    if (kind == RouteKind::kLeases) {
      return json_answer(200, leases_json(*gpu_));
    }
    if (kind == RouteKind::kIndex) {
      return prefers_html(request.accept) ? text_answer(200, "text/html; charset=utf-8", index_html_)
                                          : json_answer(200, index_json_);
    }
    return health();
  }

  /// The page with the address that its reader used, where the request tells it.
  static std::string docs_page_at(const std::string& page, const Request& request) {
    std::string path = percent_decoded(split_target(request.target).path);
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    return request.host && !request.host->empty() ? with_address(page, "http://" + std::string(*request.host) + path)
                                                  : page;
  }

  static Response health() { return json_answer(200, R"({"status":"ok"})"); }

  const DaemonOptions options_;
  const EncodingOffer offer_;
  const Router router_;
  const std::unique_ptr<GpuExchange> gpu_;  // outlives those that read through it
  const std::vector<std::unique_ptr<ServedTesseract>> tesseracts_;
  const StandardOutput output_;
  Metrics metrics_;
  const Clock::Instant began_;
  const Clock::WallTime wall_began_;
  const ServiceParts parts_;
  std::string index_json_;
  std::string index_html_;
};

}  // namespace

Result<std::unique_ptr<Service>> Service::make(const DaemonOptions& options, Definitions tesseracts, Logger& logger,
                                               const Clock& clock) {
  TESSERA_RETURN_IF_ERROR(check_options(options, tesseracts));
  TESSERA_ASSIGN_OR_RETURN(Router router, make_router(options, tesseracts));
  auto gpu = std::make_unique<GpuExchange>(options, logger, clock);
  TESSERA_ASSIGN_OR_RETURN(StandardOutput standard_output, StandardOutput::keep());
  std::vector<std::string> names = names_of(tesseracts);
  std::error_code fault;
  if (!std::filesystem::exists(options.config.input_path, fault) && !fault) {
    logger.warning("the input folder is not there", {{"path", options.config.input_path.native()}});
  }
  std::vector<std::unique_ptr<ServedTesseract>> served;
  for (std::shared_ptr<const TesseractDefinition>& definition : tesseracts) {
    // Several have a folder each, so that their files cannot be mixed up.
    const std::string part = tesseracts.size() == 1 ? "." : definition->name();
    TESSERA_ASSIGN_OR_RETURN(ConfinedFolder input,
                             open_input_folder((options.config.input_path / part).lexically_normal()));
    TESSERA_ASSIGN_OR_RETURN(ConfinedFolder output,
                             open_output_folder((options.config.output_path / part).lexically_normal(), logger));
    served.push_back(
        std::make_unique<ServedTesseract>(std::move(definition), std::move(input), std::move(output), options, *gpu));
  }
  return std::unique_ptr<Service>(std::make_unique<TesseractService>(options, std::move(router), std::move(gpu),
                                                                     std::move(served), std::move(names),
                                                                     std::move(standard_output), logger, clock));
}

}  // namespace tessera
