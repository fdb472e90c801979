// A client that writes and reads the bytes of HTTP itself, so that tests can send what no library would.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "tessera/base/unique_fd.h"

namespace tessera {

/// A response as it was read. Names of headers are in lower case.
struct ReadResponse {
  /// False if the connection ended before it was whole.
  [[nodiscard]] bool is_whole() const { return status != 0; }

  int status = 0;
  std::map<std::string, std::string> headers;
  std::string body;
};

/// A blocking connection. Everything that takes longer than half a minute counts as nothing. One thread at a time.
class RawConnection {
 public:
  [[nodiscard]] static RawConnection to_port(std::uint16_t port);
  [[nodiscard]] static RawConnection to_path(const std::filesystem::path& path);

  [[nodiscard]] bool is_connected() const { return socket_.is_open(); }
  /// Returns whether all of it could be written.
  bool send(std::string_view bytes);
  /// Reads one response. `has_body` is false for HEAD.
  [[nodiscard]] ReadResponse read_response(bool has_body = true);
  /// Sends and reads.
  [[nodiscard]] ReadResponse exchange(std::string_view bytes);
  /// Reads exactly this many bytes, or fewer if the connection ends.
  [[nodiscard]] std::string read(std::size_t count);
  /// Whether the server closes the connection within this time, sending nothing more.
  [[nodiscard]] bool is_closed_within(std::chrono::milliseconds time);
  /// Whether nothing arrives and the connection stays open for this time.
  [[nodiscard]] bool is_silent_for(std::chrono::milliseconds time);
  /// Says that nothing more will be sent; still reads.
  void close_writing();
  void close() { socket_ = UniqueFd(); }
  /// Closes so that the server hears of it as an error.
  void reset();

 private:
  bool receive();

  UniqueFd socket_;
  std::string unread_;
};

/// `POST target` with a JSON body.
[[nodiscard]] std::string post(std::string_view target, std::string_view body, std::string_view more_headers = "");
/// `GET target`.
[[nodiscard]] std::string get(std::string_view target, std::string_view more_headers = "");

}  // namespace tessera
