// Accepts the connections of one listening socket.
#pragma once

#include "session_environment.h"
#include "task.h"
#include "tessera/base/result.h"
#include "tessera/base/unique_fd.h"

namespace tessera {

/// Accepts until the listening socket is shut down. One task at a time.
class Acceptor {
 public:
  /// `listener` and the environment outlive the acceptor. Errors: of the system.
  [[nodiscard]] static Result<Acceptor> make(boost::asio::io_context& io, SessionEnvironment& environment, int listener,
                                             bool is_unix);

  /// Ends once the server stops. Out of descriptors or memory it waits and tries again.
  [[nodiscard]] static Task<void> run(Acceptor acceptor);

 private:
  Acceptor(boost::asio::io_context& io, SessionEnvironment& environment, int listener, UniqueFd copy, bool is_unix);

  [[nodiscard]] bool accept_what_waits();
  void admit(UniqueFd socket);
  [[nodiscard]] bool may_connect(int socket) const;

  boost::asio::io_context* io_;
  SessionEnvironment* environment_;
  int listener_;
  UniqueFd copy_;  // Asio closes what it watches, but the listener is shut down from outside
  bool is_unix_;
};

}  // namespace tessera
