// Accepts the connections of one listening socket.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <utility>  // Boost 1.74 needs it first.

#include "session_environment.h"
#include "task.h"
#include "tessera/base/result.h"
#include "tessera/base/unique_fd.h"

namespace tessera {

/// Accepts until the listening socket is shut down. One task at a time.
class Acceptor {
 public:
  /// `listener` and the environment outlive the acceptor. Errors: of the system.
  [[nodiscard]] static Result<std::unique_ptr<Acceptor>> make(boost::asio::io_context& io,
                                                              SessionEnvironment& environment, int listener,
                                                              bool is_unix);

  /// Ends once the server stops. Out of descriptors or memory it waits and tries again.
  [[nodiscard]] static Task<void> run(std::unique_ptr<Acceptor> acceptor);

  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  ~Acceptor() = default;

 private:
  Acceptor(boost::asio::io_context& io, SessionEnvironment& environment, int listener, bool is_unix);

  [[nodiscard]] bool accept_what_waits();
  void admit(UniqueFd socket);
  [[nodiscard]] bool may_connect(int socket) const;

  boost::asio::io_context& io_;
  SessionEnvironment& environment_;
  int listener_;
  bool is_unix_;
  // Made before anything runs, because they take descriptors. Asio closes what it watches, but the listener is shut
  // down from outside, so this is a copy.
  boost::asio::posix::basic_stream_descriptor<Executor> watched_;
  boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                    Executor>
      pause_;
};

}  // namespace tessera
