// Requests over a Unix socket, one connection each.
#pragma once

#include <map>
#include <string>

namespace tessera::gpu_kit {

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

/// Throws std::runtime_error if there is no answer. Safe to use from any thread.
class HttpClient {
 public:
  explicit HttpClient(std::string socket) : socket_(std::move(socket)) {}

  [[nodiscard]] HttpAnswer get(const std::string& path, const std::string& headers = "") const;
  /// `headers` are whole lines.
  [[nodiscard]] HttpAnswer post(const std::string& path, const std::string& body, const std::string& headers) const;

 private:
  [[nodiscard]] HttpAnswer exchange(const std::string& request) const;

  std::string socket_;
};

}  // namespace tessera::gpu_kit
