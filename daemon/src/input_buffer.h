// The bytes that a connection has received and nobody has taken yet. Holds no memory while there are none.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace tessera {

/// One thread at a time.
class InputBuffer {
 public:
  [[nodiscard]] std::string_view unread() const { return {memory_.get() + begin_, end_ - begin_}; }
  [[nodiscard]] bool is_empty() const { return begin_ == end_; }
  /// Whether `size` unread bytes can be held without moving those that are there.
  [[nodiscard]] bool has_room_for(std::size_t size) const { return size <= capacity_ - begin_; }

  /// Room behind the unread bytes to receive into, never none. They are moved, and the memory grows up to about
  /// `limit`, only if there is none left.
  [[nodiscard]] std::span<std::byte> room(std::size_t limit);
  /// Says how many bytes were received into the room.
  void add(std::size_t count) { end_ += count; }
  void consume(std::size_t count) { begin_ += count; }
  /// Moves the unread bytes to the front; without any, gives the memory back.
  void settle();

 private:
  static constexpr std::size_t kInitialBytes = std::size_t{8} << 10;

  void make_room(std::size_t limit);

  std::unique_ptr<char[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace tessera
