// Files in a folder that the server reads from: written for one call, and written over for the next (binref).
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "tessera/array/binref.h"
#include "tessera/base/confined_folder.h"
#include "tessera/base/fork_safe_mutex.h"
#include "tessera/base/mutex.h"

namespace tessera {

/// Safe to use from any thread. A forked child makes files of its own.
class SharedInputs {
 public:
  explicit SharedInputs(ConfinedFolder folder) : folder_(std::move(folder)) {}
  SharedInputs(const SharedInputs&) = delete;
  SharedInputs& operator=(const SharedInputs&) = delete;
  ~SharedInputs();

  [[nodiscard]] const ConfinedFolder& folder() const { return folder_; }
  /// A writer for the arrays of one call.
  [[nodiscard]] std::unique_ptr<BinrefWriter> take();
  /// The server has answered: the files may be written over. A writer that is not given back removes its files.
  void give_back(std::unique_ptr<BinrefWriter> writer);

 private:
  void forget_those_of_a_parent() TESSERA_REQUIRES(mutex_);

  ConfinedFolder folder_;
  ForkSafeMutex mutex_;
  std::vector<std::unique_ptr<BinrefWriter>> idle_ TESSERA_GUARDED_BY(mutex_);
  pid_t owner_ TESSERA_GUARDED_BY(mutex_) = 0;
};

}  // namespace tessera
