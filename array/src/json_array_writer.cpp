#include "json_array_writer.h"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tessera/array/json_number.h"
#include "tessera/base/checked_math.h"
#include "tessera/base/python_text.h"

namespace tessera {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10;
// An array without elements can still need brackets without end: (1000000000, 0).
constexpr std::int64_t kMaxEmptyRows = std::int64_t{1} << 26;

// Room at the end of a body, taken in blocks.
class Room {
 public:
  Room(Body& body, std::size_t block) : body_(body), block_(block), begin_(body.prepare(block)), at_(begin_) {}
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { body_.grow(static_cast<std::size_t>(at_ - begin_)); }

  // Where to write next; there is room for `size` characters, which is at most a block.
  char* at(std::size_t size) {
    const auto used = static_cast<std::size_t>(at_ - begin_);
    if (block_ - used < size) {
      body_.grow(used);
      begin_ = body_.prepare(block_);
      at_ = begin_;
    }
    return at_;
  }
  void advance_to(char* end) { at_ = end; }
  void fill(std::size_t count, char character) {
    for (; count != 0; --count) {
      char* const out = at(1);
      *out = character;
      at_ = out + 1;
    }
  }

 private:
  Body& body_;
  std::size_t block_;
  char* begin_;
  char* at_;
};

template <class T>
constexpr std::size_t max_length() {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return kMaxNumberLength;
  } else {
    return kMaxDoubleLength;
  }
}

template <class T>
char* write_element(char* out, T element) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::string_view word = element ? "true" : "false";
    return std::ranges::copy(word, out).out;
  } else if constexpr (std::is_same_v<T, Half>) {
    return write_json_double(out, static_cast<double>(element.to_float()));
  } else if constexpr (std::is_floating_point_v<T>) {
    return write_json_double(out, static_cast<double>(element));
  } else if constexpr (std::is_signed_v<T>) {
    return write_json_integer(out, static_cast<std::int64_t>(element));
  } else if constexpr (std::is_unsigned_v<T>) {
    return write_json_unsigned(out, static_cast<std::uint64_t>(element));
  } else {
    return write_json_complex(out, element);
  }
}

// The lists of an array as rows, the innermost lists, and the axes around them.
struct Rows {
  std::vector<std::int64_t> outer_sizes;
  std::int64_t count = 1;
  std::int64_t length = 0;
};

// Nothing if they are too many. Below an axis of size zero there is nothing to write, so that axis counts as innermost.
std::optional<Rows> rows_of(const Shape& shape) {
  Rows rows;
  const auto innermost = std::min(std::ranges::find(shape, 0), std::prev(shape.end()));
  rows.outer_sizes.assign(shape.begin(), innermost);
  rows.length = *innermost;
  for (const std::int64_t size : rows.outer_sizes) {
    const std::optional<std::int64_t> count = checked_multiply(rows.count, size);
    if (!count || (rows.length == 0 && *count > kMaxEmptyRows)) {
      return std::nullopt;
    }
    rows.count = *count;
  }
  return rows;
}

template <class T>
void write_row(const T* elements, std::int64_t length, Room& room) {
  for (std::int64_t i = 0; i < length; ++i) {
    char* out = room.at(max_length<T>() + 1);
    if (i != 0) {
      *out++ = ',';
    }
    room.advance_to(write_element(out, elements[i]));
  }
}

template <class T>
void write_rows(const T* elements, const Rows& rows, Room& room) {
  std::vector<std::int64_t> position(rows.outer_sizes.size());
  room.fill(position.size() + 1, '[');
  for (std::int64_t row = 0; row < rows.count; ++row) {
    write_row(elements + row * rows.length, rows.length, room);
    std::size_t ended = 0;
    while (ended != position.size()) {
      const std::size_t axis = position.size() - 1 - ended;
      if (++position[axis] != rows.outer_sizes[axis]) {
        break;
      }
      position[axis] = 0;
      ++ended;
    }
    room.fill(ended + 1, ']');
    if (ended != position.size()) {
      room.fill(1, ',');
      room.fill(ended + 1, '[');
    }
  }
}

}  // namespace

Status write_json_elements(const Array& array, Body& body) {
  Rows rows;
  if (array.rank() != 0) {
    std::optional<Rows> found = rows_of(array.shape());
    if (!found) {
      return Error(ErrorCode::kTooLarge,
                   "an empty array of shape " + python_tuple(array.shape()) + " is too large for json");
    }
    rows = *std::move(found);
  }
  visit_dtype(array.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* const elements = array.values<T>().data();
    // Few elements take no more room than they can need, so that a small answer stays in one segment.
    const std::size_t most = (static_cast<std::size_t>(array.size()) + 1) * (max_length<T>() + 1);
    Room room(body, std::min(most, kBlock));
    if (array.rank() == 0) {
      write_row(elements, 1, room);
    } else {
      write_rows(elements, rows, room);
    }
  });
  return {};
}

}  // namespace tessera
