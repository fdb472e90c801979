#include "scripted_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace tessera::testing {
namespace {

constexpr std::chrono::seconds kScriptPatience{10};

}  // namespace

std::optional<std::string> RecordedRequest::header(std::string_view name) const {
  const std::string start = "\r\n" + std::string(name) + ": ";
  const std::size_t begin = head.find(start);
  if (begin == std::string::npos) {
    return std::nullopt;
  }
  const std::size_t value = begin + start.size();
  return head.substr(value, head.find("\r\n", value) - value);
}

bool ScriptedConnection::receive() {
  std::array<char, 65536> piece{};
  const ssize_t got = ::recv(socket_, piece.data(), piece.size(), 0);
  if (got <= 0) {
    return false;
  }
  unread_.append(piece.data(), static_cast<std::size_t>(got));
  return true;
}

std::optional<RecordedRequest> ScriptedConnection::read_head() {
  std::size_t end = unread_.find("\r\n\r\n");
  while (end == std::string::npos) {
    if (!receive()) {
      return std::nullopt;
    }
    end = unread_.find("\r\n\r\n");
  }
  RecordedRequest request{unread_.substr(0, end + 2), ""};
  unread_.erase(0, end + 4);
  if (!document_.empty() && request.line().ends_with("/openapi.json")) {
    send(ok_response(document_));
    return read_head();
  }
  return request;
}

std::optional<RecordedRequest> ScriptedConnection::read() {
  std::optional<RecordedRequest> request = read_head();
  return request && read_body(*request) ? request : std::nullopt;
}

bool ScriptedConnection::read_body(RecordedRequest& request) {
  const std::size_t size = std::stoul(request.header("Content-Length").value_or("0"));
  while (unread_.size() < size) {
    if (!receive()) {
      return false;
    }
  }
  request.body = unread_.substr(0, size);
  unread_.erase(0, size);
  record_(request);
  return true;
}

bool ScriptedConnection::answer(std::string_view bytes) {
  return read().has_value() && send(bytes);
}

bool ScriptedConnection::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void ScriptedConnection::finish() const {
  ::shutdown(socket_, SHUT_WR);
}

void ScriptedConnection::reset() const {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

bool ScriptedConnection::has_bytes() const {
  ::pollfd bytes{.fd = socket_, .events = POLLIN, .revents = 0};
  return !unread_.empty() || (::poll(&bytes, 1, 0) > 0 && (bytes.revents & POLLIN) != 0);
}

void ScriptedConnection::wait_for_end() const {
  std::array<char, 65536> piece{};
  while (::recv(socket_, piece.data(), piece.size(), 0) > 0) {
  }
}

bool ScriptedConnection::pause(std::chrono::milliseconds time) const {
  ::pollfd end{.fd = socket_, .events = POLLRDHUP, .revents = 0};
  return ::poll(&end, 1, static_cast<int>(time.count())) == 0;
}

ScriptedServer::Script ScriptedServer::answering(std::string bytes) {
  return [bytes = std::move(bytes)](ScriptedConnection& connection) {
    while (connection.answer(bytes)) {
    }
  };
}

ScriptedServer::Script ScriptedServer::answering_once(std::string bytes) {
  return [bytes = std::move(bytes)](ScriptedConnection& connection) { connection.answer(bytes); };
}

ScriptedServer::ScriptedServer(std::vector<Script> scripts, Kind kind)
    : scripts_(std::move(scripts)), document_(small_document()) {
  if (kind == Kind::kUnix) {
    const std::filesystem::path path = folder_.path() / "sock";
    listener_ = UniqueFd::adopt(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener_.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    url_ = "unix:" + path.string();
  } else {
    listener_ = UniqueFd::adopt(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.value(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(listener_.value(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  EXPECT_EQ(::listen(listener_.value(), 128), 0);
  acceptor_ = std::thread([this] { accept_all(); });
}

ScriptedServer::~ScriptedServer() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    ::shutdown(listener_.value(), SHUT_RDWR);
    for (const int socket : open_) {
      ::shutdown(socket, SHUT_RDWR);
    }
  }
  acceptor_.join();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void ScriptedServer::accept_all() {
  while (true) {
    const int socket = ::accept4(listener_.value(), nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) {
      return;
    }
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::lock_guard lock(mutex_);
    const std::size_t index = std::min(connections_, scripts_.size() - 1);
    ++connections_;
    if (is_stopping_) {
      ::close(socket);
      return;
    }
    open_.push_back(socket);
    threads_.emplace_back([this, socket, index] { serve(socket, index); });
  }
}

void ScriptedServer::serve(int socket, std::size_t index) {
  std::string document;
  {
    const std::lock_guard lock(mutex_);
    document = document_;
  }
  ScriptedConnection connection(socket, std::move(document), [this](const RecordedRequest& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    changed_.notify_all();
  });
  scripts_[index](connection);
  const std::lock_guard lock(mutex_);
  std::erase(open_, socket);
  ::close(socket);
}

std::vector<RecordedRequest> ScriptedServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::size_t ScriptedServer::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

bool ScriptedServer::wait_for_requests(std::size_t count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kScriptPatience, [this, count] { return requests_.size() >= count; });
}

void ScriptedServer::set_document(std::string text) {
  const std::lock_guard lock(mutex_);
  document_ = std::move(text);
}

std::string ok_response(std::string_view body, std::string_view more_headers) {
  return response_of("200 OK", body, more_headers);
}

std::string response_of(std::string_view status, std::string_view body, std::string_view more_headers) {
  std::string text = "HTTP/1.1 " + std::string(status) + "\r\nContent-Length: " + std::to_string(body.size());
  text += "\r\n";
  text += more_headers;
  text += "\r\n";
  text += body;
  return text;
}

std::string small_document() {
  return R"({"paths":{"/apply":{},"/jacobian":{},"/health":{},"/test":{}},)"
         R"("x-supported-output-formats":["json","json+base64","json+binref"],)"
         R"("x-supported-gpu-transports":["none","cuda_ipc"],"x-supported-compressions":["none","lz4"]})";
}

}  // namespace tessera::testing
