#include "gpu_transport_check.h"

#include <optional>
#include <utility>

#include "response_value.h"
#include "tessera/array/base64.h"
#include "tessera/array/value.h"
#include "tessera/array/value_writer.h"
#include "tessera/ipc/peer.h"
#include "tessera/sdk/client_error.h"

namespace tessera {
namespace {

Value descriptor_of(const std::string& reference) {
  return Object{{"object_type", "array"},
                {"shape", List{static_cast<std::int64_t>(kCheckBytes)}},
                {"dtype", "uint8"},
                {"data", Object{{"buffer", reference}, {"encoding", "cuda_ipc"}}}};
}

Value peer_value() {
  const Peer self = Peer::self();
  return Object{{"pid", self.pid}, {"pid_namespace", self.pid_namespace}, {"boot_id", self.boot_id}};
}

// The member of an object in an object in …, as text.
std::optional<std::string> text_at(const Value& root, std::initializer_list<std::string_view> path) {
  const Value* value = &root;
  for (const std::string_view key : path) {
    value = value->kind() == Value::Kind::kObject ? value->object().find(key) : nullptr;
    if (value == nullptr) {
      return std::nullopt;
    }
  }
  return value->kind() == Value::Kind::kText ? std::optional(value->text()) : std::nullopt;
}

Error failure(const GpuTransport& transport, std::string_view what, const Error& error) {
  return {error.code(),
          std::string(what) + ": " + (error.native_code() == 0 ? error.message() : text_of(transport.explain(error)))};
}

}  // namespace

Result<GpuTransportCheck> GpuTransportCheck::begin(ClientGpu& gpu) {
  if (const std::optional<TransportProblem> problem = gpu.transport->problem()) {
    return Error(ErrorCode::kUnavailable, "this process could not export GPU memory: " + text_of(*problem));
  }
  Result<TransportCheck> check = TransportCheck::start(*gpu.system, *gpu.transport, gpu.system->gpus().front()->uuid());
  if (!check) {
    return failure(*gpu.transport, "this process could not export GPU memory", check.error());
  }
  return GpuTransportCheck(gpu, *std::move(check));
}

Body GpuTransportCheck::body() const {
  std::string expected(base64_length(check_.expected().size()), '\0');
  base64_encode(check_.expected(), expected.data());
  const Value request = Object{{"gpu_transport", std::string(gpu_->transport->name())},
                               {"array", descriptor_of(check_.reference())},
                               {"expected", std::move(expected)},
                               {"peer", peer_value()}};
  Body body;
  // Without arrays and files nothing can fail.
  static_cast<void>(write_value(request, Encoding(), ArrayWriters(), body));
  return body;
}

Status GpuTransportCheck::finish(std::string_view reply) const {
  constexpr std::string_view kCannotRead = "this process could not read GPU memory exported by the Tesseract";
  try {
    const Value answer = read_plain_value(reply);
    const Value* const ok = answer.kind() == Value::Kind::kObject ? answer.object().find("ok") : nullptr;
    if (ok == nullptr || ok->kind() != Value::Kind::kBool || !ok->boolean()) {
      return Error(ErrorCode::kUnavailable, text_at(answer, {"reason"}).value_or("no reason given"));
    }
    const std::optional<std::string> reference = text_at(answer, {"array", "data", "buffer"});
    if (!reference) {
      return Error(ErrorCode::kUnavailable, std::string(kCannotRead) + ": the reply holds no array");
    }
    if (const Status status = check_.finish(*reference); !status) {
      return failure(*gpu_->transport, kCannotRead, status.error());
    }
  } catch (const ClientError& error) {
    return Error(ErrorCode::kUnavailable, std::string(kCannotRead) + ": " + error.what());
  }
  return {};
}

}  // namespace tessera
