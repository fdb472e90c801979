#include "shared_inputs.h"

#include <unistd.h>

#include <functional>
#include <utility>

namespace tessera {
namespace {

// More calls at once than this make new files each time.
constexpr std::size_t kMaxIdleWriters = 8;

}  // namespace

SharedInputs::~SharedInputs() {
  const MutexLock lock(mutex_);
  forget_those_of_a_parent();
}

void SharedInputs::forget_those_of_a_parent() {
  const pid_t self = getpid();
  if (owner_ != self) {
    owner_ = self;
    for (const std::unique_ptr<BinrefWriter>& writer : idle_) {
      writer->commit();  // the parent goes on with them
    }
    idle_.clear();
  }
}

std::unique_ptr<BinrefWriter> SharedInputs::take() {
  {
    const MutexLock lock(mutex_);
    forget_those_of_a_parent();
    if (!idle_.empty()) {
      std::unique_ptr<BinrefWriter> writer = std::move(idle_.back());
      idle_.pop_back();
      return writer;
    }
  }
  return std::make_unique<BinrefWriter>(folder_, "", std::function<Status()>());
}

void SharedInputs::give_back(std::unique_ptr<BinrefWriter> writer) {
  if (!writer->rewind()) {
    return;
  }
  const MutexLock lock(mutex_);
  forget_those_of_a_parent();
  if (idle_.size() < kMaxIdleWriters) {
    idle_.push_back(std::move(writer));
  }
}

}  // namespace tessera
