// Responses as the client reads them from a connection, whole and in pieces.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "cut_recv.h"
#include "folder.h"
#include "http_reader.h"
#include "input.h"
#include "targets.h"
#include "tessera/base/unique_fd.h"
#include "tessera/sdk/client_error.h"

namespace tessera::fuzzing {
namespace {

constexpr std::uint64_t kMaxResponseBytes = 1 << 20;
constexpr std::size_t kMaxSentBytes = 64 << 10;

// A server that says what it is told to whoever connects, then closes.
class Server final {
 public:
  Server() : listener_(UniqueFd::adopt(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))) {
    address_.unix_path = (folder_.path() / "socket").string();
    address_.text = "a server";
    ::sockaddr_un name{};
    name.sun_family = AF_UNIX;
    address_.unix_path.copy(name.sun_path, sizeof name.sun_path - 1);
    require(::bind(listener_.value(), reinterpret_cast<const ::sockaddr*>(&name), sizeof name) == 0 &&
                ::listen(listener_.value(), 1) == 0,
            "there is a socket to listen on");
  }

  [[nodiscard]] ClientSocket connect_and_send(std::string_view bytes, const CallLimits& limits) const {
    ClientSocket socket = ClientSocket::connect(address_, limits);
    const UniqueFd peer = UniqueFd::adopt(::accept(listener_.value(), nullptr, nullptr));
    require(::send(peer.value(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()),
            "an input fits into a socket");
    return socket;
  }

 private:
  Folder folder_;
  ServerAddress address_;
  UniqueFd listener_;
};

struct Outcome {
  std::string error;  ///< of a response that cannot be read
  bool is_none = false;
  int status = 0;
  std::string text;
  std::optional<std::string> exports;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome read_once(std::string_view bytes, std::size_t piece, bool is_hesitant) {
  static const Server kServer;
  const CutReceives cut(piece, is_hesitant);
  const CallLimits limits({.read = std::chrono::seconds(5)}, std::nullopt, {});
  ClientSocket socket = kServer.connect_and_send(bytes, limits);
  Outcome outcome;
  try {
    const std::optional<HttpResponse> response = read_response(socket, limits, kMaxResponseBytes, true, {});
    if (!response.has_value()) {
      outcome.is_none = true;
      return outcome;
    }
    require(response->status >= 200 && response->status < 1000, "a response has a final status");
    require(response->size_bytes <= kMaxResponseBytes, "a response stays within the limit");
    outcome.status = response->status;
    outcome.text = response->text();
    outcome.exports = response->exports;
  } catch (const ClientError& error) {
    require(error.kind() == ClientError::Kind::kBadResponse, "what is no response is told apart");
    outcome.error = "bad";
  }
  return outcome;
}

}  // namespace

void fuzz_response_http(std::string_view bytes) {
  Input input(bytes);
  const std::uint8_t choice = input.byte();
  const std::string_view sent = input.rest().substr(0, kMaxSentBytes);
  const Outcome at_once = read_once(sent, SIZE_MAX, false);
  require(read_once(sent, 1U + choice / 2U, choice % 2 == 1) == at_once, "pieces are read as the whole is");
}

}  // namespace tessera::fuzzing
