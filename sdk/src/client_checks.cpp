// What works between a client and its server: found out by a small exchange, once.
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "client.h"
#include "encoding_request.h"
#include "gpu_transport_check.h"
#include "refusal.h"
#include "shared_folder_check.h"
#include "tessera/sdk/array_input.h"

namespace tessera {
namespace {

// What the SDK picks by itself, best first.
constexpr std::string_view kAutomaticTransport = "cuda_ipc";

}  // namespace

Tesseract::Client::CheckResult Tesseract::Client::run_check() {
  Result<GpuTransportCheck> check = GpuTransportCheck::begin(gpu());
  if (!check) {
    return {false, check.error().message()};
  }
  const Body body = check->body();
  HttpRequest request;
  request.method = "POST";
  request.target = "/check_gpu_transport";
  request.headers.emplace_back("Accept", "*/*");
  request.body = &body;
  request.is_repeatable = true;
  const HttpResponse response = send(std::move(request), limits_of({}));
  const std::shared_ptr<void> loan = loan_of(exports_, response.exports);
  if (response.status < 200 || response.status >= 300) {
    throw ClientError(ClientError::Kind::kStatus,
                      "The Tesseract at " + url() + " answered the check of gpu_transport='cuda_ipc' with error " +
                          std::to_string(response.status) + ": " + std::string(response.text().substr(0, 1000)),
                      response.status);
  }
  const Status finished = check->finish(response.text());
  return finished ? CheckResult{true, ""} : CheckResult{false, finished.error().message()};
}

template <class Known, class Find>
std::invoke_result_t<Find> Tesseract::Client::known_or_found(Known known, Find find) {
  const std::shared_ptr<Mutex> turn = check_turn();
  if (const auto result = known()) {
    return *result;
  }
  const MutexLock one_at_a_time(*turn);
  if (const auto result = known()) {
    return *result;
  }
  return find();
}

Tesseract::Client::CheckResult Tesseract::Client::check_transport(const std::string& name) {
  if (name == "none") {
    return {true, ""};
  }
  RequestedEncoding wish;
  wish.gpu_transport = name;
  static_cast<void>(fit_to_server(wish, document().capabilities()));
  const auto known = [this, &name]() -> std::optional<CheckResult> {
    const MutexLock lock(check_mutex_);
    const auto found = checks_.find(name);
    return found == checks_.end() ? std::nullopt : std::optional(found->second);
  };
  return known_or_found(known, [this, &name] {
    CheckResult result = name == kAutomaticTransport
                             ? run_check()
                             : CheckResult{false, "this client does not implement gpu_transport '" + name + "'"};
    const MutexLock lock(check_mutex_);
    checks_.emplace(name, result);
    return result;
  });
}

std::shared_ptr<Mutex> Tesseract::Client::check_turn() {
  const MutexLock lock(check_mutex_);
  if (const pid_t self = getpid(); checking_process_ != self) {
    checking_process_ = self;
    if (check_turn_) {
      // In a forked child: the turn may be that of a thread which is not there, so it is never taken or freed again.
      static_cast<void>(new std::shared_ptr<Mutex>(std::move(check_turn_)));  // NOLINT(cppcoreguidelines-owning-memory)
    }
    check_turn_ = std::make_shared<Mutex>();
    // CUDA does not work in a child that was forked after its start.
    checks_.clear();
  }
  return check_turn_;
}

Tesseract::Client::CheckResult Tesseract::Client::check_shared_inputs(const CallOptions& call) {
  const std::optional<ArrayInput> input = find_array_input(document(call).input_schema());
  if (!input) {
    return {true, ""};  // it cannot be tried without computing something; an error of the call will tell
  }
  Result<SharedFolderCheck> check = SharedFolderCheck::begin(inputs_->folder(), *input);
  if (!check) {
    return {false, check.error().message()};
  }
  const Body body = check->body();
  HttpRequest request = compute_request("apply", RequestedEncoding(), CallOptions());
  request.body = &body;
  const HttpResponse response = send(std::move(request), limits_of(call));
  const ClientError refusal = refusal_of("apply", response);
  if (refusal.kind() != ClientError::Kind::kRefused) {
    throw ClientError(refusal.kind(), "whether files are shared cannot be found out: " + std::string(refusal.what()),
                      response.status);
  }
  const std::optional<std::string> obstacle = check->find_obstacle(refusal.items());
  return {!obstacle, obstacle.value_or("")};
}

bool Tesseract::Client::shares_inputs(const CallOptions& call) {
  const auto known = [this] {
    const MutexLock lock(check_mutex_);
    return shares_inputs_;
  };
  return known_or_found(known, [this, &call] {
    const CheckResult result = check_shared_inputs(call);
    if (!result.works) {
      warn("The Tesseract at " + url() + " does not read the files that this process writes to " +
           inputs_->folder().path().string() + ", so arrays are sent as base64 instead: " + result.reason);
    }
    const MutexLock lock(check_mutex_);
    shares_inputs_ = result.works;
    return result.works;
  });
}

std::string Tesseract::Client::resolve_gpu_transport(const RequestedEncoding& encoding) {
  if (const std::optional<std::string>& requested = encoding.gpu_transport) {
    const CheckResult result = check_transport(*requested);
    if (!result.works) {
      throw ClientError(ClientError::Kind::kGpu,
                        "gpu_transport='" + *requested +
                            "' was requested, but it does not work between this process and the Tesseract: " +
                            result.reason + ". Request gpu_transport='none' to copy GPU arrays to the host.");
    }
    return *requested;
  }
  const ServerCapabilities::Names& offered = document().capabilities().gpu_transports;
  std::string candidate(kAutomaticTransport);
  if (!offered || std::ranges::find(*offered, candidate) == offered->end()) {
    return "none";
  }
  const CheckResult result = check_transport(candidate);
  if (result.works) {
    return candidate;
  }
  if (is_first_warning(candidate)) {
    warn("The Tesseract at " + url() + " offers gpu_transport='" + candidate +
         "', but it does not work from this process, so GPU arrays are copied to the host instead: " + result.reason);
  }
  return "none";
}

}  // namespace tessera
