// The daemon: serves Tesseracts over HTTP on TCP and on a Unix socket.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/clock.h"
#include "tessera/base/log.h"
#include "tessera/base/result.h"
#include "tessera/daemon/config.h"
#include "tessera/tesseract/definition.h"

namespace tessera {

/// How a daemon serves (PROTOCOL.md sections 1, 14 and 17). A plain value, constant once it runs.
struct DaemonOptions {
  // Behaviour.
  RuntimeConfig config = {};
  bool serve_tcp = true;
  std::string host = "127.0.0.1";
  std::uint16_t port = 8000;                                        ///< 0 lets the system choose
  std::optional<std::filesystem::path> unix_socket = std::nullopt;  ///< also, or only, serve on this path
  unsigned unix_socket_mode = 0600;                                 ///< of the socket file
  bool unix_socket_any_user = false;  ///< else the peer must be this process's user or root; set unix_socket_mode too
  /// Endpoint calls that run at once, 1 or more. Only with 1 is what endpoints print kept in the run's log.
  unsigned workers = 1;
  /// Looks for the next request on a connection for so long before its thread sleeps: saves a wake-up, costs processor
  /// time behind each answer.
  std::chrono::microseconds busy_poll{0};
  /// Of files of outputs on a tmpfs whose pages are made ahead, by a thread of each Tesseract that has written some.
  std::uint64_t prepared_file_bytes = std::uint64_t{128} << 20;
  /// Removes run folders in which nothing changed for so long; looked at four times in that time, but at least once a
  /// minute and at most once a second. A wall clock that is set makes them stay for longer, never shorter.
  std::optional<std::chrono::seconds> keep_runs = std::nullopt;

  std::chrono::seconds exports_timeout{300};  ///< for GPU arrays that a client never names done (PROTOCOL.md 8.1)
  std::string cuda_library = "libcuda.so.1";  ///< the driver, for GPU arrays

  // Limits.
  std::uint64_t body_bytes = std::uint64_t{4} << 30;  ///< of one request; 413 beyond
  /// Of the bodies of all requests together, counted as they arrive and until they are decoded (arrays are not part of
  /// it); 503 beyond, 413 for a body that alone is larger. By default half of usable_memory_bytes().
  std::optional<std::uint64_t> bodies_bytes = std::nullopt;
  std::size_t request_line_bytes = 64 << 10;            ///< 414 beyond
  std::size_t header_value_bytes = 64 << 10;            ///< of one header (lists of exports are long); 431 beyond
  std::size_t headers = 256;                            ///< how many; 431 beyond
  std::size_t header_bytes = 128 << 10;                 ///< of the request line and all headers; 431 beyond, 414 if
                                                        ///< the request line alone is longer
  std::size_t nesting_depth = 512;                      ///< of JSON; 400 beyond
  std::uint64_t array_bytes = std::uint64_t{16} << 30;  ///< of one decoded array; 422 beyond
  /// Of GPU memory kept for clients, 503 beyond; by default three quarters of what the GPUs have together.
  std::optional<std::uint64_t> export_bytes = std::nullopt;
  std::size_t waiting_calls = 1024;             ///< that wait for a worker; 503 beyond
  std::size_t connections = 4096;               ///< at once, as far as descriptors go: start() raises their limit. At
                                                ///< the limit idle ones give way; else 64 more are answered
                                                ///< 503, those beyond are closed without an answer
  std::chrono::seconds idle_time{75};           ///< of a kept connection (upstream: 60 s, never less); four
                                                ///< times as long if it never sent anything
  std::chrono::seconds header_time{30};         ///< from the first byte of a request to the end of its headers
  std::chrono::seconds body_progress_time{60};  ///< without any byte of a body, or of an answer taken
  std::uint64_t body_bytes_per_second = 1024;   ///< of a body that is waited for, on average, once it has been
                                                ///< coming for body_rate_time; 0: as slow as it likes
  std::chrono::seconds body_rate_time{60};
  std::chrono::seconds stop_time{10};  ///< for calls that run or wait, once stop() was called; a second of
                                       ///< it, before, for clients to name done what they hold on a GPU
};

/// A running daemon. Its methods may be called from any thread but those that serve (not by an endpoint). Destroying it
/// stops it, and waits for calls that are not done for as long as they take.
class Daemon {
 public:
  /// Binds the sockets, starts the threads and serves. One Tesseract is served at the root and at `/<name>`, several at
  /// `/<name>`, their files in `<input_path>/<name>` and `<output_path>/<name>`. Makes the folders for outputs; those
  /// for inputs need not be there, and then hold nothing. Replaces the socket file of a daemon that is gone. Copies the
  /// options, shares the Tesseracts; `logger` and `clock` outlive the daemon. Errors: kUnavailable (native_code() is
  /// EADDRINUSE for an address in use, EMFILE if there are no descriptors left); kInvalidArgument for names that clash,
  /// a wrong Tesseract, options, hosts, paths or folders that cannot be, missing rights; kInternal of the system.
  [[nodiscard]] static Result<std::unique_ptr<Daemon>> start(
      const DaemonOptions& options, std::vector<std::shared_ptr<const TesseractDefinition>> tesseracts, Logger& logger,
      const Clock& clock);

  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  virtual ~Daemon() = default;

  /// The TCP port, 0 if TCP is not served.
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// Waits a moment, answering all requests, if clients hold GPU memory that they will name done. Then stops accepting,
  /// closes idle connections, lets calls that run or wait finish within stop_time, closes. Returns whether all of them
  /// did; if not, some still run, and a program that cannot wait for them ends by _Exit. Blocks up to stop_time; a
  /// second call gives the answer of the first.
  virtual bool stop() = 0;

 protected:
  Daemon() = default;
};

}  // namespace tessera
