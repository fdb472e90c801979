// The kit's own tessera, serving on a Unix socket.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::gpu_kit {

/// Owner of the process: stopped with it. One thread at a time.
class Server {
 public:
  /// Starts `tessera` beside this program, and waits until it answers. Throws std::runtime_error if it does not.
  explicit Server(const std::vector<std::string>& tesseracts);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  [[nodiscard]] const std::string& socket() const { return socket_; }

 private:
  std::filesystem::path folder_;  // removed at the end
  std::string socket_;
  pid_t pid_ = -1;
};

}  // namespace tessera::gpu_kit
