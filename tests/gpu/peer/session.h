// A client in C++ of a server with GPU arrays: what tessera's folders ipc and array offer, over HTTP.
#pragma once

#include <httplib.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tessera/base/clock.h"
#include "tessera/ipc/gpu_system.h"
#include "tessera/ipc/gpu_transport.h"

namespace tessera::gpu_tests {

/// How a program of the tests ends.
enum class ExitCode {
  kGood = 0,
  kWrongData = 1,
  kUsage = 2,
  kServerGone = 3,
  kRefused = 4,    ///< the server answered, but not as hoped
  kCudaFailed = 5  ///< a call of CUDA failed
};

/// Ends the program.
class Ending : public std::runtime_error {
 public:
  Ending(ExitCode code, const std::string& why) : std::runtime_error(why), code_(code) {}
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

template <class T>
[[nodiscard]] T unwrap_cuda(Result<T> result) {
  if (!result) {
    throw Ending(ExitCode::kCudaFailed, result.error().message());
  }
  return std::move(result).value();
}

/// One client of one server. Throws Ending.
class Session {
 public:
  struct Options {
    int port = 0;
    std::string field = "x";       ///< of the input
    std::string result = "y";      ///< of the output
    bool does_acknowledge = true;  ///< sends Tesseract-Exports-Done
    bool does_tell_peer = true;    ///< sends who it is with the check
  };

  explicit Session(Options options);

  /// The round trip that tells whether cuda_ipc works; the reason that the server gives, or nothing.
  std::string check();
  /// Sends an array on a GPU with a `place` (none if empty), and compares what comes back with it. Gives the bytes that
  /// were compared.
  std::size_t call(const std::string& place, std::size_t elements, float first, GpuTransport::Borrow borrow);
  /// A call that is sent over and over; for times.
  struct Prepared {
    std::string body;
    std::string accept;
    ExportedArray exported;
  };
  [[nodiscard]] Prepared prepare_on_gpu(std::size_t elements);
  [[nodiscard]] Prepared prepare_on_host(std::size_t elements);
  /// Sends it and takes the answer as text.
  void repeat(const Prepared& call);
  /// Names what is left.
  void finish();

  [[nodiscard]] const GpuSystem& gpus() const { return *gpus_; }

 private:
  httplib::Result post(const std::string& path, const std::string& body, const std::string& accept);
  nlohmann::json expect_ok(const httplib::Result& result);
  [[nodiscard]] const Uuid& gpu() const;

  Options options_;
  SystemClock clock_;
  std::shared_ptr<GpuSystem> gpus_;
  std::unique_ptr<GpuTransport> transport_;
  httplib::Client http_;
  std::string done_;
};

/// The message of a GPU array.
[[nodiscard]] nlohmann::json message_of(const std::string& reference, DType dtype, const Shape& shape);

}  // namespace tessera::gpu_tests
