#include "session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/array/base64.h"
#include "tessera/ipc/peer.h"
#include "tessera/ipc/transport_check.h"

namespace tessera::gpu_tests {
namespace {

using Json = nlohmann::json;

constexpr const char* kAccept = "application/json+base64; gpu_transport=cuda_ipc";
constexpr std::time_t kTimeoutSeconds = 10;

Array counting_array(std::size_t elements, float first) {
  Array array = Array::allocate(DType::kFloat32, {static_cast<std::int64_t>(elements)});
  float next = first;
  for (float& value : array.mutable_values<float>()) {
    value = next;
    next += 1.0F;
  }
  return array;
}

std::string base64_of(std::span<const std::byte> bytes) {
  std::string text(base64_length(bytes.size()), '\0');
  base64_encode(bytes, text.data());
  return text;
}

Json peer_json() {
  const Peer peer = Peer::self();
  return {{"pid", peer.pid}, {"pid_namespace", peer.pid_namespace}, {"boot_id", peer.boot_id}};
}

}  // namespace

Json message_of(const std::string& reference, DType dtype, const Shape& shape) {
  return {{"object_type", "array"},
          {"shape", shape},
          {"dtype", name_of(dtype)},
          {"data", {{"buffer", reference}, {"encoding", "cuda_ipc"}}}};
}

Session::Session(Options options) : options_(std::move(options)), http_("127.0.0.1", options_.port) {
  gpus_ = GpuSystem::open({}, clock_);
  if (const std::optional<TransportProblem>& problem = gpus_->problem(); problem) {
    throw Ending(ExitCode::kCudaFailed, problem->sentence);
  }
  transport_ = make_cuda_ipc(gpus_);
  http_.set_keep_alive(true);
  http_.set_tcp_nodelay(true);
  http_.set_connection_timeout(kTimeoutSeconds);
  http_.set_read_timeout(kTimeoutSeconds);
}

const Uuid& Session::gpu() const {
  return gpus_->gpus().front()->uuid();
}

httplib::Result Session::post(const std::string& path, const std::string& body, const std::string& accept) {
  httplib::Headers headers{{"Accept", accept}};
  if (options_.does_acknowledge) {
    headers.emplace("Tesseract-Exports-Done", done_);
  }
  httplib::Result result = http_.Post(path, headers, body, "application/json");
  if (result) {
    done_ = result->get_header_value("Tesseract-Exports");
  }
  return result;
}

Json Session::expect_ok(const httplib::Result& result) {
  if (!result) {
    throw Ending(ExitCode::kServerGone, httplib::to_string(result.error()));
  }
  if (result->status != 200) {
    throw Ending(ExitCode::kRefused, std::to_string(result->status) + " " + result->body);
  }
  return Json::parse(result->body);
}

std::string Session::check() {
  const TransportCheck check = unwrap_cuda(TransportCheck::start(*gpus_, *transport_, gpu()));
  Json request{{"gpu_transport", "cuda_ipc"},
               {"array", message_of(check.reference(), DType::kUInt8, {kCheckBytes})},
               {"expected", base64_of(check.expected())}};
  if (options_.does_tell_peer) {
    request["peer"] = peer_json();
  }
  const Json reply = expect_ok(post("/check_gpu_transport", request.dump(), "*/*"));
  if (!reply.at("ok").get<bool>()) {
    return reply.at("reason").get<std::string>();
  }
  const Status finished = check.finish(reply.at("array").at("data").at("buffer").get<std::string>());
  if (!finished) {
    throw Ending(finished.error().native_code() == 0 ? ExitCode::kWrongData : ExitCode::kCudaFailed,
                 finished.error().message());
  }
  return "";
}

std::size_t Session::call(const std::string& place, std::size_t elements, float first, GpuTransport::Borrow borrow) {
  const Array sent = counting_array(elements, first);
  const Array on_gpu = unwrap_cuda(gpus_->to_device(sent, gpu()));
  const ExportedArray exported = unwrap_cuda(transport_->export_array(on_gpu));
  Json inputs{{options_.field, message_of(exported.reference, sent.dtype(), sent.shape())}};
  if (!place.empty()) {
    inputs["place"] = place;
  }
  const Json reply = expect_ok(post("/apply", Json{{"inputs", inputs}}.dump(), kAccept));
  const Json& result = reply.at(options_.result);
  const ImportedArray imported = unwrap_cuda(transport_->import_array(
      result.at("data").at("buffer").get<std::string>(), DType::kFloat32, result.at("shape").get<Shape>(), borrow));
  const Array received = unwrap_cuda(imported.array.to_host());
  if (!std::ranges::equal(received.bytes(), sent.bytes())) {
    throw Ending(ExitCode::kWrongData, "what came back is not what was sent, at place " + place);
  }
  return received.size_bytes();
}

Session::Prepared Session::prepare_on_gpu(std::size_t elements) {
  const Array array = counting_array(elements, 1.0F);
  ExportedArray exported = unwrap_cuda(transport_->export_array(unwrap_cuda(gpus_->to_device(array, gpu()))));
  const Json inputs{{options_.field, message_of(exported.reference, array.dtype(), array.shape())}};
  return {Json{{"inputs", inputs}}.dump(), kAccept, std::move(exported)};
}

Session::Prepared Session::prepare_on_host(std::size_t elements) {
  const Array array = counting_array(elements, 1.0F);
  const Json inputs{{options_.field,
                     {{"object_type", "array"},
                      {"shape", array.shape()},
                      {"dtype", "float32"},
                      {"data", {{"buffer", base64_of(array.bytes())}, {"encoding", "base64"}}}}}};
  return {Json{{"inputs", inputs}}.dump(), "application/json+base64", {}};
}

void Session::repeat(const Prepared& call) {
  const httplib::Result result = post("/apply", call.body, call.accept);
  if (!result || result->status != 200) {
    throw Ending(ExitCode::kRefused, result ? result->body : "the server is gone");
  }
}

void Session::finish() {
  if (options_.does_acknowledge && !done_.empty()) {
    static_cast<void>(expect_ok(http_.Get("/health", {{"Tesseract-Exports-Done", done_}})));
    done_.clear();
  }
}

}  // namespace tessera::gpu_tests
