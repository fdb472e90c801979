// One connection to a server: bytes out, bytes in, under the limits of a call.
#pragma once

#include <cstddef>
#include <span>

#include "call_limits.h"
#include "server_address.h"
#include "tessera/base/unique_fd.h"

namespace tessera {

/// A connected socket, which does not block by itself. Move-only. One thread at a time.
class ClientSocket {
 public:
  /// Connects to the first address of the host that answers. Throws ClientError (kConnection, kTimeout, kCancelled).
  [[nodiscard]] static ClientSocket connect(const ServerAddress& address, const CallLimits& limits);

  /// Whether the server has closed it, or sent what nobody asked for: not to be used again.
  [[nodiscard]] bool is_stale() const;

  enum class Sent {
    kAll,
    kAnswered,  ///< the server began to answer, or closed its half, before it had read everything
    kRefused,   ///< the connection is broken; an answer may lie in it
  };
  /// Sends two pieces, one behind the other; either may be empty. Throws ClientError (kTimeout, kCancelled).
  [[nodiscard]] Sent send(std::span<const std::byte> first, std::span<const std::byte> second,
                          const CallLimits& limits) const;

  /// Waits for bytes; returns how many came: 0 at the end of what the server sends, or if the connection broke.
  /// Requires: a place that is not empty. Throws ClientError (kTimeout, kCancelled).
  [[nodiscard]] std::size_t receive(std::span<std::byte> into, const CallLimits& limits);
  /// After receive() gave 0: whether the server's side refused bytes that we sent, so that it cannot have read all of
  /// the request.
  [[nodiscard]] bool was_refused() const;

 private:
  [[nodiscard]] bool is_interim_response_next() const;

  explicit ClientSocket(UniqueFd descriptor) : descriptor_(std::move(descriptor)) {}

  UniqueFd descriptor_;
  int receive_errno_ = 0;
};

}  // namespace tessera
