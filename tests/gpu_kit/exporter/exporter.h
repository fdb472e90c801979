// A second process that makes arrays on the GPU and exports them, or imports what this one exported.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tessera::gpu_kit {

/// Arrays of bytes whose byte i is (seed + i) mod kBytePeriod. Move-only owner of the process; one thread at a time.
/// Methods throw std::runtime_error if the process ends or says what is wrong.
class Exporter {
 public:
  /// What its GPU memory does after an export is dropped: it is given back, or kept for the next.
  enum class Pool { kNone, kKept };

  /// This program again, with the argument "--exporter": main() is run_or_export().
  explicit Exporter(Pool pool);
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;
  ~Exporter();

  struct Export {
    std::string reference;
    double microseconds = 0.0;  ///< that the export took, without making the array
  };
  /// Exports `size_bytes` that begin `offset_bytes` into an array; the export before is dropped.
  Export make(std::size_t size_bytes, std::uint64_t seed, std::size_t offset_bytes = 0);
  /// Drops the export.
  void drop();
  /// Reads an array of this process; nothing if the bytes are those of the seed, else what is wrong.
  std::optional<std::string> read(const std::string& reference, std::size_t size_bytes, std::uint64_t seed);
  void kill();

 private:
  std::string ask(const std::string& line);

  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string rest_;
};

/// The main() of a program that starts itself a second time as an Exporter: `run`, or, in that second process, what its
/// standard input orders. Returns the exit code.
[[nodiscard]] int run_or_export(std::span<char* const> arguments, int (*run)());

/// Byte i of an array of a seed; they repeat after kBytePeriod.
inline constexpr std::size_t kBytePeriod = 251;
[[nodiscard]] constexpr std::byte byte_at(std::uint64_t seed, std::size_t i) {
  return static_cast<std::byte>((seed + i) % kBytePeriod);
}

}  // namespace tessera::gpu_kit
