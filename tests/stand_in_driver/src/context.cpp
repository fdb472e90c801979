#include "context.h"

#include <utility>

namespace tessera::stand_in {

std::vector<Context*>& context_stack(const Knobs& knobs) {
  // Never destroyed: threads may call while the process ends.
  static auto* shared = new std::vector<Context*>;
  static thread_local std::vector<Context*> own;
  return knobs.breaks(Mutation::contexts_shared_by_threads) ? *shared : own;
}

void* Context::create_stream(bool is_blocking) {
  MutexLock lock(mutex_);
  auto stream = std::make_shared<Stream>(is_blocking, delay_);
  void* key = stream.get();
  created_[key] = std::move(stream);
  return key;
}

bool Context::destroy_stream(void* stream) {
  MutexLock lock(mutex_);
  auto found = created_.find(stream);
  if (found == created_.end()) {
    return false;
  }
  std::erase_if(destroyed_, [](const auto& one) { return one.expired(); });
  destroyed_.push_back(found->second);
  created_.erase(found);
  return true;
}

const std::shared_ptr<Stream>& Context::default_stream(std::shared_ptr<Stream>& place) {
  if (place == nullptr) {
    place = std::make_shared<Stream>(true, delay_);
  }
  return place;
}

std::shared_ptr<Stream> Context::find_stream(void* stream, bool is_per_thread_default) {
  MutexLock lock(mutex_);
  auto number = reinterpret_cast<std::uintptr_t>(stream);
  if (number == kStreamLegacy || (number == 0 && !is_per_thread_default)) {
    return default_stream(legacy_);
  }
  if (number == kStreamPerThread || number == 0) {
    return default_stream(per_thread_[std::this_thread::get_id()]);
  }
  auto found = created_.find(stream);
  return found == created_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Stream>> Context::all_streams() {
  std::vector<std::shared_ptr<Stream>> streams;
  if (legacy_ != nullptr) {
    streams.push_back(legacy_);
  }
  for (const auto& [thread, stream] : per_thread_) {
    streams.push_back(stream);
  }
  for (const auto& [key, stream] : created_) {
    streams.push_back(stream);
  }
  for (const auto& one : destroyed_) {
    if (std::shared_ptr<Stream> stream = one.lock()) {
      streams.push_back(std::move(stream));
    }
  }
  return streams;
}

std::shared_ptr<Completion> Context::submit(const std::shared_ptr<Stream>& stream,
                                            std::vector<std::shared_ptr<Waitable>> after, std::function<void()> run) {
  std::shared_ptr<Completion> done;
  std::shared_ptr<Stream> target = stream;
  {
    MutexLock lock(mutex_);
    std::vector<std::shared_ptr<Stream>> before;
    if (stream == legacy_) {
      before = all_streams();
    } else if (stream->is_blocking() && legacy_ != nullptr) {
      before.push_back(legacy_);
    }
    for (const std::shared_ptr<Stream>& other : before) {
      std::shared_ptr<Completion> last = other->last();
      if (other != stream && other->is_blocking() && last != nullptr &&
          !knobs_.breaks(Mutation::legacy_stream_unordered)) {
        after.push_back(std::move(last));
      }
    }
    if (knobs_.breaks(Mutation::streams_unordered)) {
      // Every other piece is late.
      is_late_ = !is_late_;
      target = std::make_shared<Stream>(false, std::chrono::milliseconds(is_late_ ? 30 : 0));
      after.clear();
    }
    done = target->push(std::move(after), std::move(run));
  }
  target->start();
  return done;
}

void Context::synchronize() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    MutexLock lock(mutex_);
    streams = all_streams();
  }
  for (const std::shared_ptr<Stream>& stream : streams) {
    if (std::shared_ptr<Completion> last = stream->last()) {
      last->hurry();
      last->wait();
    }
  }
}

void Context::set_delay(std::chrono::microseconds delay) {
  MutexLock lock(mutex_);
  delay_ = delay;
  for (const std::shared_ptr<Stream>& stream : all_streams()) {
    stream->set_delay(delay);
  }
}

void Context::clear() {
  MutexLock lock(mutex_);
  legacy_ = nullptr;
  per_thread_.clear();
  created_.clear();
  destroyed_.clear();
  sticky_.store(kSuccess);
}

}  // namespace tessera::stand_in
