#include "input_buffer.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tessera {

Received receive_into(int socket, std::span<std::byte> into, std::size_t& count) {
  while (true) {
    const ssize_t got = ::recv(socket, into.data(), into.size(), 0);
    if (got > 0) {
      count = static_cast<std::size_t>(got);
      return Received::kBytes;
    }
    count = 0;
    if (got == 0) {
      return Received::kEnd;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return Received::kNothingYet;
    }
    if (errno != EINTR) {
      return Received::kEnd;
    }
  }
}

Received InputBuffer::receive(int socket, std::size_t limit) {
  if (end_ == capacity_) {
    make_room(limit);
  }
  std::size_t count = 0;
  const Received received =
      receive_into(socket, std::as_writable_bytes(std::span(memory_.get() + end_, capacity_ - end_)), count);
  end_ += count;
  return received;
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
    settle();
    if (end_ < capacity_) {
      return;
    }
  }
  // Never without room for one byte: a read of no bytes looks like the end.
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
