// Requests to one server over connections that are kept.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "call_limits.h"
#include "client_socket.h"
#include "http_message.h"
#include "http_reader.h"
#include "server_address.h"
#include "tessera/base/fork_safe_mutex.h"
#include "tessera/base/mutex.h"

namespace tessera {

/// Safe to use from any thread: each exchange has a connection of its own. A forked child makes new ones.
class HttpClient {
 public:
  HttpClient(ServerAddress address, std::uint64_t max_response_bytes)
      : address_(std::move(address)), max_response_bytes_(max_response_bytes) {}

  [[nodiscard]] const ServerAddress& address() const { return address_; }

  /// Sends a request and reads its response, of whatever status. A kept connection that turns out to be closed is
  /// replaced, and the request repeated, once, if the server cannot have read all of it or `is_repeatable`. Throws
  /// ClientError (kConnection, kTimeout, kCancelled, kBadResponse).
  [[nodiscard]] HttpResponse exchange(const HttpRequest& request, const CallLimits& limits, const Progress& progress);
  /// Closes the connections that nobody uses.
  void close_idle();

 private:
  struct Idle {
    ClientSocket socket;
    std::chrono::steady_clock::time_point since;
  };

  [[nodiscard]] std::optional<ClientSocket> take_idle();
  void put_back(ClientSocket socket);
  // Nothing if the server had closed the connection, and the request may be sent again.
  [[nodiscard]] std::optional<HttpResponse> try_exchange(ClientSocket& socket, const HttpRequest& request,
                                                         const CallLimits& limits, const Progress& progress,
                                                         bool may_repeat) const;
  [[nodiscard]] std::string head_of(const HttpRequest& request) const;

  ServerAddress address_;
  std::uint64_t max_response_bytes_;
  ForkSafeMutex mutex_;
  std::vector<Idle> idle_ TESSERA_GUARDED_BY(mutex_);  // the latest used is the last
  pid_t owner_ TESSERA_GUARDED_BY(mutex_) = 0;
};

}  // namespace tessera
