// A server that plays given bytes, right or wrong, and keeps what it was sent.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/temp_folder.h"
#include "tessera/base/unique_fd.h"

namespace tessera::testing {

/// A request as it came. A plain value.
struct RecordedRequest {
  /// The value of a header, nothing if there is none; `name` in the case in which it is sent.
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const;
  /// "POST /apply".
  [[nodiscard]] std::string line() const { return head.substr(0, head.find(" HTTP/1.1")); }

  std::string head;  ///< with the line break of each line, without the empty line
  std::string body;
};

/// One connection, as a script sees it. One thread at a time.
class ScriptedConnection {
 public:
  using Record = std::function<void(const RecordedRequest&)>;
  ScriptedConnection(int socket, std::string document, Record record)
      : socket_(socket), document_(std::move(document)), record_(std::move(record)) {}

  /// The next request; nothing if the client ended the connection. Requests for the OpenAPI document are answered and
  /// passed over, unless there is none.
  [[nodiscard]] std::optional<RecordedRequest> read();
  /// Reads a head alone, and leaves the body behind it where it is.
  [[nodiscard]] std::optional<RecordedRequest> read_head();
  /// Reads the body behind a head. Returns false if the client ended the connection before.
  bool read_body(RecordedRequest& request);
  /// Reads the next request and sends this. Returns whether there was a request.
  bool answer(std::string_view bytes);
  /// Returns whether all of it could be sent.
  bool send(std::string_view bytes) const;  // NOLINT(modernize-use-nodiscard): often it does not matter
  /// No more bytes will come from here.
  void finish() const;
  /// Ends the connection with a reset, as a process that is killed with unread bytes does.
  void reset() const;
  /// Whether bytes have come that were not read.
  [[nodiscard]] bool has_bytes() const;
  /// Until the client, or the end of the test, closes the connection.
  void wait_for_end() const;
  /// Returns whether the connection stood all that time.
  bool pause(std::chrono::milliseconds time) const;  // NOLINT(modernize-use-nodiscard)

 private:
  friend class ScriptedServer;
  bool receive();

  int socket_;
  std::string document_;
  Record record_;
  std::string unread_;
};

/// Each connection that comes runs the next script, the last one again and again, on a thread of its own, and is closed
/// when it returns. Safe to use from any thread.
class ScriptedServer {
 public:
  using Script = std::function<void(ScriptedConnection&)>;
  enum class Kind { kTcp, kUnix };

  explicit ScriptedServer(std::vector<Script> scripts, Kind kind = Kind::kTcp);
  explicit ScriptedServer(Script script, Kind kind = Kind::kTcp)
      : ScriptedServer(std::vector<Script>{std::move(script)}, kind) {}
  /// Answers each request with the same bytes, and keeps the connection.
  [[nodiscard]] static Script answering(std::string bytes);
  /// Answers one request with these bytes, and closes.
  [[nodiscard]] static Script answering_once(std::string bytes);
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  ~ScriptedServer();

  [[nodiscard]] const std::string& url() const { return url_; }
  /// What came, in order, but for requests for the document.
  [[nodiscard]] std::vector<RecordedRequest> requests() const;
  [[nodiscard]] std::size_t connections() const;
  /// Waits until so many requests have come. Returns whether they did within ten seconds.
  [[nodiscard]] bool wait_for_requests(std::size_t count);
  /// Requests for the OpenAPI document get this text from now on; nothing: they are left to the scripts.
  void set_document(std::string text);

 private:
  void accept_all();
  void serve(int socket, std::size_t index);

  std::vector<Script> scripts_;
  TempFolder folder_;
  UniqueFd listener_;
  std::string url_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string document_;
  std::vector<RecordedRequest> requests_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::size_t connections_ = 0;
  bool is_stopping_ = false;
  std::thread acceptor_;
};

/// A response of status 200 with this body.
[[nodiscard]] std::string ok_response(std::string_view body, std::string_view more_headers = "");
/// A response of any status; `status` is "413 Payload Too Large".
[[nodiscard]] std::string response_of(std::string_view status, std::string_view body,
                                      std::string_view more_headers = "");
/// The OpenAPI document of a Tesseract with all endpoints, which takes all encodings.
[[nodiscard]] std::string small_document();

}  // namespace tessera::testing
