// How a client connects, how long it waits, and which encoding it asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/ipc/gpu_system.h"

namespace tessera {

/// The encoding that calls ask for; a field without a value leaves it to the server (PROTOCOL.md section 10.2). GPU
/// transports are opt-in: without a value, calls ask for "none". A plain value.
struct RequestedEncoding {
  std::optional<std::string> output_format = std::nullopt;  ///< "json", "json+base64", "json+binref"
  std::optional<std::string> gpu_transport = std::nullopt;  ///< "none", "cuda_ipc"
  std::optional<std::string> compression = std::nullopt;    ///< "none", "lz4"
  friend bool operator==(const RequestedEncoding&, const RequestedEncoding&) = default;
};

/// What a server accepts, by its OpenAPI document; a list without a value is not stated: runtimes before 1.13 state
/// none, 1.13 and 1.14 the formats (and 1.14 the compressions) alone. A plain value.
struct ServerCapabilities {
  using Names = std::optional<std::vector<std::string>>;
  Names output_formats = std::nullopt;
  Names gpu_transports = std::nullopt;
  Names compressions = std::nullopt;
  friend bool operator==(const ServerCapabilities&, const ServerCapabilities&) = default;
};

/// How long a call may take. No value: without end. A plain value.
struct Timeouts {
  std::optional<std::chrono::milliseconds> connect = std::nullopt;  ///< until a connection stands
  std::optional<std::chrono::milliseconds> read = std::nullopt;     ///< between two arrivals of bytes, or departures
  std::optional<std::chrono::milliseconds> total = std::nullopt;    ///< of the whole call
};

/// A plain value.
struct ClientOptions {
  Timeouts timeouts;
  /// The folder, as this process sees it, into which the server writes files: needed to read json+binref.
  std::optional<std::filesystem::path> server_output_path = std::nullopt;
  /// The folder, as this process sees it, from which the server reads files. With it, arrays are sent as files while
  /// json+binref is asked for, once a call that is refused has shown that the server reads them; else, and while none
  /// can be written (a full disk), as base64, with a warning. Files are written over by later calls, and removed with
  /// the client.
  std::optional<std::filesystem::path> server_input_path = std::nullopt;
  /// Arrays that come by a GPU transport stay the server's memory, mapped, until their last copy is dropped. Otherwise
  /// they are copied on the GPU, and the server's memory is given back with the next request.
  bool borrows_gpu_arrays = false;
  /// What GPU arrays are made with; by default the one that the process shares, see shared_gpus().
  std::shared_ptr<GpuSystem> gpus;
  /// Called with one sentence when a call is degraded but goes on; from the thread of the call. By default the sentence
  /// goes to standard error.
  std::function<void(std::string_view sentence)> warn;
  /// Called with the bytes that a transfer has moved and has to move (0: not known), on the thread of the call, if it
  /// is of progress_from_bytes or more; at least every 8 MiB.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  std::uint64_t progress_from_bytes = std::uint64_t{64} << 20U;
  /// Called when a signal came while the call waits; an exception that it throws ends the call.
  std::function<void()> on_signal;
  /// Larger responses are refused before memory is taken for them.
  std::uint64_t max_response_bytes = std::uint64_t{32} << 30U;
  /// After this time without a request, the server is told which of its GPU arrays are no longer needed.
  std::chrono::milliseconds exports_idle_time{100};
};

/// The GPUs of this process, opened at the first call; what clients use that were given none. Kept until the process
/// ends. Safe to call from any thread.
[[nodiscard]] std::shared_ptr<GpuSystem> shared_gpus();

}  // namespace tessera
