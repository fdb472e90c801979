// What a server is doing at this moment: for the metrics.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera {

/// A plain value.
struct ServerLoad {
  std::size_t workers = 0;
  std::size_t busy_workers = 0;
  std::size_t waiting_calls = 0;  ///< for a worker
  std::size_t codecs = 0;         ///< threads that may decode or encode large bodies, or wait for a GPU
  std::size_t busy_codecs = 0;
  std::size_t waiting_codecs = 0;  ///< requests that wait for one
  std::size_t connections = 0;
  std::uint64_t body_bytes = 0;        ///< that have come of requests which are not answered
  std::uint64_t body_limit_bytes = 0;  ///< for them
};

/// Safe to use from any thread.
class LoadSource {
 public:
  LoadSource() = default;
  LoadSource(const LoadSource&) = delete;
  LoadSource& operator=(const LoadSource&) = delete;
  virtual ~LoadSource() = default;

  [[nodiscard]] virtual ServerLoad load() const = 0;
};

}  // namespace tessera
