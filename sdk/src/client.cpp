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
constexpr std::string_view kDoneHeader = "Tesseract-Exports-Done";

Encoding base64() {
  return {OutputFormat::kBase64, Compression::kNone, "none"};
}

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
                                std::unique_ptr<BinrefWriter>& files) {
  Body body;
  const Status written = write_value(Value(payload), encoding, {files.get(), &exports}, body);
  if (written) {
    return body;
  }
  // A full disk, say. The next call tries again.
  if (files && written.error().native_code() != 0) {
    files.reset();
    if (is_first_warning("server_input_path")) {
      warn("Arrays are sent as base64 for as long as their files cannot be written: " + written.error().message());
    }
    return body_of(payload, base64(), exports, files);
  }
  throw ClientError(exports.has_failed() ? ClientError::Kind::kGpu : ClientError::Kind::kInvalidArgument,
                    "the inputs cannot be sent: " + written.error().message());
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
  Encoding written = base64();
  if (inputs_ && asked.output_format == "json+binref" && shares_inputs(call)) {
    files = inputs_->take();
    written.format = OutputFormat::kBinref;
  }
  const Body body = body_of(payload, written, exports, files);

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
  std::unique_ptr<BinrefWriter> no_files;
  if (payload != nullptr) {
    body = body_of(*payload, base64(), exports, no_files);
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

}  // namespace tessera
