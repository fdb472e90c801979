#include "http_client.h"

#include <unistd.h>

#include <span>
#include <string>
#include <utility>

#include "tessera/sdk/client_error.h"

namespace tessera {
namespace {

// Servers close idle connections after 60 s (PROTOCOL.md section 1): what is older is not tried.
constexpr std::chrono::seconds kKeptTime{55};
constexpr std::size_t kMaxIdle = 128;
// What a body is encoded into, piece by piece; stays in the cache of a core.
constexpr std::size_t kScratchBytes = std::size_t{128} << 10U;

}  // namespace

std::string HttpClient::head_of(const HttpRequest& request) const {
  std::string head;
  head.reserve(512);
  head.append(request.method).append(" ").append(address_.prefix).append(request.target);
  head.append(" HTTP/1.1\r\nHost: ").append(address_.host_header);
  head.append("\r\nUser-Agent: tessera/" TESSERA_VERSION "\r\n");
  if (!address_.authorization.empty()) {
    head.append("Authorization: ").append(address_.authorization).append("\r\n");
  }
  for (const auto& [name, value] : request.headers) {
    head.append(name).append(": ").append(value).append("\r\n");
  }
  if (request.body != nullptr) {
    head.append("Content-Type: application/json\r\nContent-Length: ");
    head.append(std::to_string(request.body->size_bytes())).append("\r\n");
  }
  head.append("\r\n");
  return head;
}

std::optional<ClientSocket> HttpClient::take_idle() {
  const MutexLock lock(mutex_);
  if (const pid_t self = getpid(); owner_ != self) {
    // The parent goes on with the connections that it had before a fork.
    owner_ = self;
    idle_.clear();
  }
  const auto now = std::chrono::steady_clock::now();
  while (!idle_.empty()) {
    Idle latest = std::move(idle_.back());
    idle_.pop_back();
    if (now - latest.since < kKeptTime && !latest.socket.is_stale()) {
      return std::move(latest.socket);
    }
  }
  return std::nullopt;
}

void HttpClient::put_back(ClientSocket socket) {
  const MutexLock lock(mutex_);
  if (idle_.size() < kMaxIdle) {
    idle_.push_back({std::move(socket), std::chrono::steady_clock::now()});
  }
}

void HttpClient::close_idle() {
  const MutexLock lock(mutex_);
  idle_.clear();
}

std::optional<HttpResponse> HttpClient::try_exchange(ClientSocket& socket, const HttpRequest& request,
                                                     const CallLimits& limits, const Progress& progress,
                                                     bool may_repeat) const {
  using Sent = ClientSocket::Sent;
  const std::string head = head_of(request);
  Sent sent = Sent::kAll;
  if (request.body == nullptr) {
    sent = socket.send(std::as_bytes(std::span(head)), {}, limits);
  } else {
    std::vector<std::byte> scratch(std::min<std::uint64_t>(kScratchBytes, request.body->size_bytes() + 4096));
    Body::Cursor cursor(*request.body);
    std::uint64_t done = 0;
    std::span<const std::byte> before = std::as_bytes(std::span(head));
    for (std::span<const std::byte> piece = cursor.next(scratch); !piece.empty() || !before.empty();
         piece = cursor.next(scratch)) {
      sent = socket.send(before, piece, limits);
      if (sent != Sent::kAll) {
        break;
      }
      before = {};
      done += piece.size();
      if (progress) {
        progress(done, request.body->size_bytes());
      }
    }
  }
  std::optional<HttpResponse> response =
      read_response(socket, limits, max_response_bytes_, request.wants_arrays, progress);
  // 408 on a kept connection is how some servers close one that was idle: it came before the request.
  if (response && !(may_repeat && response->status == 408)) {
    // A request that was not sent to its end leaves nothing to go on with.
    response->is_last = response->is_last || sent != Sent::kAll;
    return response;
  }
  if (may_repeat && (response || sent != Sent::kAll || request.is_repeatable || socket.was_refused())) {
    return std::nullopt;
  }
  throw ClientError(ClientError::Kind::kConnection,
                    address_.text + " closed the connection without an answer" +
                        (sent == Sent::kAll ? "; the call may have been executed" : ""));
}

HttpResponse HttpClient::exchange(const HttpRequest& request, const CallLimits& limits, const Progress& progress) {
  limits.check();
  if (std::optional<ClientSocket> kept = take_idle()) {
    if (std::optional<HttpResponse> response = try_exchange(*kept, request, limits, progress, true)) {
      if (!response->is_last) {
        put_back(*std::move(kept));
      }
      return *std::move(response);
    }
  }
  ClientSocket socket = ClientSocket::connect(address_, limits);
  // There is one, since this may not be repeated.
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
  HttpResponse response = try_exchange(socket, request, limits, progress, false).value();
  if (!response.is_last) {
    put_back(std::move(socket));
  }
  return response;
}

}  // namespace tessera
