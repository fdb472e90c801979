#include "client.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "encoding_request.h"
#include "gpu_transport_check.h"
#include "refusal.h"
#include "response_value.h"
#include "shared_folder_check.h"
#include "tessera/array/value_writer.h"
#include "tessera/sdk/array_input.h"

namespace tessera {
namespace {

// How long a request may take that nobody waits for.
constexpr std::chrono::milliseconds kFlushTime{1000};
// What the SDK picks by itself, best first.
constexpr std::string_view kAutomaticTransport = "cuda_ipc";
constexpr std::string_view kDoneHeader = "Tesseract-Exports-Done";

std::string joined(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) {
    text += text.empty() ? "" : ",";
    text += id;
  }
  return text;
}

// Sends a request that names what is done with; what could not be sent is named by the next one.
HttpResponse send_naming(HttpClient& http, FinishedExports& exports, HttpRequest request, const CallLimits& limits,
                         const Progress& progress) {
  std::vector<std::string> ids = exports.take();
  request.headers.emplace_back(kDoneHeader, joined(ids));
  try {
    return http.exchange(request, limits, progress);
  } catch (...) {
    exports.give_back(std::move(ids));
    throw;
  }
}

ConfinedFolder open_folder(const std::filesystem::path& path, std::string_view name) {
  Result<ConfinedFolder> folder = ConfinedFolder::open(path);
  if (!folder) {
    throw ClientError(ClientError::Kind::kInvalidArgument,
                      std::string(name) + " cannot be used: " + folder.error().message());
  }
  return *std::move(folder);
}

// The server gives an export back once this is dropped; in the process that got it, of which a forked child has copies.
std::shared_ptr<void> loan_of(std::shared_ptr<FinishedExports> exports, const std::optional<std::string>& id) {
  if (!id) {
    return nullptr;
  }
  struct Loan {
    std::shared_ptr<FinishedExports> exports;
    std::string id;
    pid_t owner = getpid();
    Loan(std::shared_ptr<FinishedExports> the_exports, std::string the_id)
        : exports(std::move(the_exports)), id(std::move(the_id)) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() {
      if (owner == getpid()) {
        exports->add(id);
      }
    }
  };
  return std::make_shared<Loan>(std::move(exports), *id);
}

}  // namespace

Tesseract::Client::Client(ServerAddress address, ClientOptions options)
    : options_(std::move(options)),
      http_(std::make_shared<HttpClient>(std::move(address), options_.max_response_bytes)),
      exports_(std::make_shared<FinishedExports>(options_.exports_idle_time, [http = http_](FinishedExports& exports) {
        const CallLimits limits({kFlushTime, kFlushTime, kFlushTime}, std::nullopt, {});
        HttpRequest request;
        request.method = "GET";
        request.target = "/health";
        request.is_repeatable = true;
        static_cast<void>(send_naming(*http, exports, std::move(request), limits, {}));
      })) {
  if (options_.server_output_path) {
    output_folder_ = open_folder(*options_.server_output_path, "server_output_path");
  }
  if (options_.server_input_path) {
    inputs_ = std::make_unique<SharedInputs>(open_folder(*options_.server_input_path, "server_input_path"));
  }
}

Tesseract::Client::~Client() {
  close();
}

void Tesseract::Client::close() noexcept {
  exports_->flush();
  http_->close_idle();
}

void Tesseract::Client::warn(const std::string& sentence) const {
  if (options_.warn) {
    options_.warn(sentence);
  } else {
    std::fprintf(stderr, "tessera: warning: %s\n", sentence.c_str());
  }
}

bool Tesseract::Client::is_first_warning(const std::string& subject) {
  const MutexLock lock(check_mutex_);
  return warned_.insert(subject).second;
}

CallLimits Tesseract::Client::limits_of(const CallOptions& call) const {
  return {options_.timeouts, call.cancellation, options_.on_signal};
}

HttpResponse Tesseract::Client::send(HttpRequest request, const CallLimits& limits) {
  Progress progress;
  if (options_.progress) {
    progress = [this](std::uint64_t done, std::uint64_t total) {
      if (std::max(done, total) >= options_.progress_from_bytes) {
        options_.progress(done, total);
      }
    };
  }
  return send_naming(*http_, *exports_, std::move(request), limits, progress);
}

const ServerDocument& Tesseract::Client::document(const CallOptions& call) {
  {
    const MutexLock lock(mutex_);
    if (document_) {
      return *document_;
    }
  }
  HttpRequest request;
  request.method = "GET";
  request.target = "/openapi.json";
  request.headers.emplace_back("Accept", "*/*");
  request.is_repeatable = true;
  const HttpResponse response = send(std::move(request), limits_of(call));
  if (response.status != 200) {
    throw_refusal("openapi.json", response);
  }
  auto document = std::make_unique<const ServerDocument>(response.text());
  const MutexLock lock(mutex_);
  // Of several that were fetched at once the first stays, since it may be in use.
  if (!document_) {
    document_ = std::move(document);
  }
  return *document_;
}

ClientGpu& Tesseract::Client::gpu() {
  const MutexLock lock(mutex_);
  if (!gpu_) {
    gpu_ = std::make_unique<ClientGpu>(options_.gpus);
  }
  return *gpu_;
}

Body Tesseract::Client::body_of(const Object& payload, const Encoding& encoding, RequestExports& exports,
                                BinrefWriter* files) const {
  Body body;
  const Status written = write_value(Value(payload), encoding, {files, &exports}, body);
  if (!written) {
    throw ClientError(exports.has_failed() ? ClientError::Kind::kGpu : ClientError::Kind::kInvalidArgument,
                      "the inputs cannot be sent: " + written.error().message());
  }
  return body;
}

Value Tesseract::Client::decode(std::string_view endpoint, HttpResponse response) {
  const std::shared_ptr<void> loan = loan_of(exports_, response.exports);
  if (response.status < 200 || response.status >= 300) {
    throw_refusal(endpoint, response);
  }
  const ResponseImports imports([this]() -> ClientGpu& { return gpu(); }, options_.borrows_gpu_arrays ? loan : nullptr);
  const ArraySources sources{output_folder_ ? &*output_folder_ : nullptr, &imports};
  return response.arrived ? read_response_value(*response.arrived, sources)
                          : read_response_value(response.text(), sources);
}

HttpRequest Tesseract::Client::compute_request(std::string_view endpoint, const RequestedEncoding& asked,
                                               const CallOptions& call) {
  HttpRequest request;
  request.method = "POST";
  request.target = "/" + std::string(endpoint);
  if (call.run_id) {
    request.target += "?run_id=";
    append_query_value(request.target, *call.run_id);
  }
  if (std::optional<std::string> accept = accept_header(asked)) {
    request.headers.emplace_back("Accept", *std::move(accept));
  }
  return request;
}

Value Tesseract::Client::compute(std::string_view endpoint, const Object& payload, const RequestedEncoding& encoding,
                                 const CallOptions& call) {
  RequestedEncoding asked = encoding;
  if (!asked.gpu_transport) {
    // Runtimes 1.13 and 1.14 use their own otherwise (PROTOCOL.md section 10.2).
    asked.gpu_transport = "none";
  }
  asked = fit_to_server(std::move(asked), document(call).capabilities());

  // Lives until the answer is there: the server reads GPU memory and files of ours meanwhile.
  RequestExports exports(asked.gpu_transport.value_or("none") != "none", [this]() -> ClientGpu& { return gpu(); });
  std::unique_ptr<BinrefWriter> files;
  Encoding written{OutputFormat::kBase64, Compression::kNone, "none"};
  if (inputs_ && asked.output_format == "json+binref" && shares_inputs(call)) {
    files = inputs_->take();
    written.format = OutputFormat::kBinref;
  }
  const Body body = body_of(payload, written, exports, files.get());

  HttpRequest request = compute_request(endpoint, asked, call);
  request.body = &body;
  request.wants_arrays = true;
  HttpResponse response = send(std::move(request), limits_of(call));
  if (files) {
    inputs_->give_back(std::move(files));
  }
  return decode(endpoint, std::move(response));
}

std::string Tesseract::Client::call_text(std::string_view endpoint, std::optional<std::string_view> text,
                                         const RequestedEncoding& encoding, const CallOptions& call) {
  RequestedEncoding asked = encoding;
  if (asked.gpu_transport.value_or("none") != "none") {
    throw ClientError(ClientError::Kind::kInvalidArgument, "a text cannot hold arrays in GPU memory");
  }
  HttpRequest request;
  std::optional<Body> body;
  if (text) {
    asked.gpu_transport = "none";
    request = compute_request(endpoint, fit_to_server(std::move(asked), document(call).capabilities()), call);
    body.emplace(std::string(*text));
    request.body = &*body;
  } else {
    request.method = "GET";
    request.target = "/" + std::string(endpoint);
    request.headers.emplace_back("Accept", "*/*");
    request.is_repeatable = true;
  }
  const HttpResponse response = send(std::move(request), limits_of(call));
  if (response.status < 200 || response.status >= 300) {
    throw_refusal(endpoint, response);
  }
  return std::string(response.text());
}

Value Tesseract::Client::call_plain(std::string_view endpoint, const Object* payload, const CallOptions& call) {
  HttpRequest request;
  request.method = payload == nullptr ? "GET" : "POST";
  request.target = "/" + std::string(endpoint);
  request.headers.emplace_back("Accept", "*/*");
  request.is_repeatable = payload == nullptr;
  Body body;
  RequestExports exports(false, {});
  if (payload != nullptr) {
    body = body_of(*payload, {OutputFormat::kBase64, Compression::kNone, "none"}, exports, nullptr);
    request.body = &body;
  }
  const HttpResponse response = send(std::move(request), limits_of(call));
  if (response.status < 200 || response.status >= 300) {
    throw_refusal(endpoint, response);
  }
  return read_plain_value(response.text());
}

void Tesseract::Client::check_encoding(const RequestedEncoding& requested) {
  const ServerCapabilities& capabilities = document().capabilities();
  static_cast<void>(fit_to_server(requested, capabilities));
  if (requested.compression && !capabilities.compressions && is_first_warning("compression")) {
    warn(
        "This Tesseract does not advertise which compressions it accepts. Runtimes older than 1.14 ignore the "
        "requested compression and use the one they were configured with.");
  }
}

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
