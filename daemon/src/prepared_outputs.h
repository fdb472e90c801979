// Files of outputs whose pages are made ahead, by a thread that has nothing else to do. On a tmpfs the first touch of a
// page costs several times more than what is written to it; elsewhere there is nothing to gain, and nothing is
// prepared.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <thread>
#include <vector>

#include "tessera/array/binref.h"
#include "tessera/base/confined_folder.h"
#include "tessera/base/mutex.h"

namespace tessera {

/// Keeps up to two files as large as the last that was written, once two large ones in a row had that size; none once
/// nobody has asked for a while. They have no names, so they are gone with the process however it ends.
class PreparedOutputs final : public PreparedFiles {
 public:
  /// Smaller files are made faster than they are handed over.
  static constexpr std::uint64_t kMinFileBytes = std::uint64_t{1} << 20;

  /// Keeps `max_bytes` at most, in the folder, which outlives this.
  PreparedOutputs(const ConfinedFolder& folder, std::uint64_t max_bytes,
                  std::chrono::milliseconds idle_time = std::chrono::seconds(10))
      : folder_(folder), max_bytes_(max_bytes), idle_time_(idle_time) {}
  PreparedOutputs(const PreparedOutputs&) = delete;
  PreparedOutputs& operator=(const PreparedOutputs&) = delete;
  ~PreparedOutputs() override;

  [[nodiscard]] UniqueFd take(std::uint64_t size_bytes) override;
  void note_size(std::uint64_t size_bytes) override;
  bool give_up() override;

  /// The bytes of the files that are ready.
  [[nodiscard]] std::uint64_t ready_bytes() const;

 private:
  static constexpr std::size_t kMaxFiles = 2;

  struct File {
    UniqueFd descriptor;
    std::uint64_t size_bytes = 0;
  };

  void run();
  [[nodiscard]] std::uint64_t sum_of_ready() const TESSERA_REQUIRES(mutex_);
  [[nodiscard]] bool has_room() const TESSERA_REQUIRES(mutex_);
  [[nodiscard]] UniqueFd make(std::uint64_t size_bytes) const;

  const ConfinedFolder& folder_;
  const std::uint64_t max_bytes_;
  const std::chrono::milliseconds idle_time_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<File> ready_ TESSERA_GUARDED_BY(mutex_);
  std::uint64_t noted_bytes_ TESSERA_GUARDED_BY(mutex_) = 0;   // of the last large file
  std::uint64_t wanted_bytes_ TESSERA_GUARDED_BY(mutex_) = 0;  // of a file; 0: none
  bool is_stopping_ TESSERA_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point last_use_ TESSERA_GUARDED_BY(mutex_);
  std::thread thread_ TESSERA_GUARDED_BY(mutex_);
};

}  // namespace tessera
