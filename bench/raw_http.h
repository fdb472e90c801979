// The least that a client of HTTP can do: what the programs that time servers are made of.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Where a server listens: a Unix socket if it has a path, else a port of this host.
struct Place {
  int tcp_port = 0;
  std::string unix_path;
};

/// Which request goes where.
struct Exchange {
  Place place;
  std::string target = "/apply";
  std::string body_file;
};

/// Reads the options of a program, which come in pairs: --tcp, --unix, --target and --body, and others that `take`
/// knows. Throws std::runtime_error for those that it does not know.
Exchange read_options(int argc, char** argv,
                      const std::function<bool(std::string_view name, const std::string& value)>& take);

/// Connects; the descriptor is the caller's. Throws std::runtime_error.
int connect_to(const Place& place);
/// A POST of a JSON body.
std::string make_request(std::string_view target, std::string_view accept, std::string_view body);
/// Reads a whole file. Throws std::runtime_error.
std::string read_file(const std::string& path);
void send_all(int fd, std::string_view bytes);

/// A response as it comes in.
class ResponseBuffer {
 public:
  /// Room to receive into.
  [[nodiscard]] char* room() { return memory_.data() + have_; }
  [[nodiscard]] std::size_t room_size() const { return memory_.size() - have_; }
  /// Says how much was received. True once the response is whole, which needs a Content-Length. Throws
  /// std::runtime_error if its status is another.
  bool add(std::size_t count, std::string_view status);
  [[nodiscard]] std::string_view body() const { return {memory_.data() + head_size_, size_ - head_size_}; }
  /// Makes room for the next one; memory stays.
  void clear() { have_ = head_size_ = size_ = 0; }

 private:
  std::vector<char> memory_ = std::vector<char>(std::size_t{1} << 14);
  std::size_t have_ = 0;
  std::size_t head_size_ = 0;
  std::size_t size_ = 0;
};

/// Receives one response, waiting for it. Throws std::runtime_error.
std::string_view receive(int fd, ResponseBuffer& buffer, std::string_view status);

/// The value below which that share of the sorted times lies.
double quantile(const std::vector<double>& sorted, double share);

}  // namespace bench
