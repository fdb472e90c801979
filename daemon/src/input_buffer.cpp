#include "input_buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tessera {

std::span<std::byte> InputBuffer::room(std::size_t limit) {
  if (end_ == capacity_) {
    make_room(limit);
  }
  return std::as_writable_bytes(std::span(memory_.get() + end_, capacity_ - end_));
}

void InputBuffer::settle() {
  if (is_empty()) {
    memory_.reset();
    capacity_ = begin_ = end_ = 0;
  } else if (begin_ > 0) {
    std::memmove(memory_.get(), memory_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
}

void InputBuffer::make_room(std::size_t limit) {
  if (begin_ > 0) {
    std::memmove(memory_.get(), memory_.get() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    return;
  }
  const std::size_t wanted = std::max(kInitialBytes, std::min(capacity_ * 2, limit));
  const std::size_t capacity = std::max(wanted, capacity_ + 1);
  std::unique_ptr<char[]> memory(new char[capacity]);
  if (end_ > 0) {
    std::memcpy(memory.get(), memory_.get(), end_);
  }
  memory_ = std::move(memory);
  capacity_ = capacity;
}

}  // namespace tessera
