#include "number_list.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "tessera/base/python_text.h"

namespace tessera {
namespace {

// NumPy's bound.
constexpr std::size_t kSlotBytes = 8;
constexpr std::size_t kFirstSlots = 32;

class NumberListReader {
 public:
  NumberListReader(JsonScanner& scanner, const NumberListOptions& options)
      : scanner_(scanner), options_(options), holds_doubles_(options.as_doubles) {
    sizes_.fill(kUnknownSize);
  }

  NumberList read() {
    if (options_.expected_count != 0) {
      // A number and its comma take two characters, so the text bounds what a false count can claim.
      reserve(std::min(options_.expected_count, scanner_.remaining() / 2 + 1));
    }
    read_value(0);
    finish();
    return std::move(list_);
  }

 private:
  static constexpr std::int64_t kUnknownSize = -1;

  void read_value(std::size_t depth) {
    const JsonKind kind = scanner_.peek();
    if (kind == JsonKind::kList) {
      read_list(depth);
    } else {
      read_leaf(kind, depth);
    }
  }

  void read_list(std::size_t depth) {
    if (depth == kMaxRank) {
      is_too_deep_ = true;
      scanner_.skip_value();
      return;
    }
    if (leaf_depth_ && depth >= *leaf_depth_) {
      note_ragged(depth);
    }
    list_depths_ = std::max(list_depths_, depth + 1);
    std::int64_t size = 0;
    scanner_.enter();
    JsonNumber number;
    while (true) {
      for (; scanner_.next_number(number); ++size) {
        note_leaf(depth + 1);
        add(number);
        ++list_.count;
      }
      if (!scanner_.next_item()) {
        break;
      }
      read_value(depth + 1);
      ++size;
    }
    if (sizes_[depth] == kUnknownSize) {
      sizes_[depth] = size;
    } else if (sizes_[depth] != size) {
      note_ragged(depth);
    }
  }

  void note_leaf(std::size_t depth) {
    if (leaf_depth_ != depth) {
      if (leaf_depth_) {
        note_ragged(std::min(*leaf_depth_, depth));
      } else if (depth < list_depths_) {
        note_ragged(depth);
      }
      leaf_depth_ = leaf_depth_ ? std::min(*leaf_depth_, depth) : depth;
    }
  }

  void read_leaf(JsonKind kind, std::size_t depth) {
    note_leaf(depth);
    switch (kind) {
      case JsonKind::kNumber:
        add(scanner_.read_number());
        break;
      case JsonKind::kFalse:
      case JsonKind::kTrue:
        scanner_.read_literal();
        add_bool(kind == JsonKind::kTrue);
        break;
      default:
        scanner_.skip_value();
        list_.has_other = true;
        break;
    }
    ++list_.count;
  }

  void add(const JsonNumber& number) {
    if (holds_doubles_) {
      list_.has_other = list_.has_other || number.kind == JsonNumber::Kind::kHugeInt;
      store(number.real);
      return;
    }
    switch (number.kind) {
      case JsonNumber::Kind::kInt:
        add_int(number.integer);
        break;
      case JsonNumber::Kind::kUInt:
        add_uint(number.unsigned_integer);
        break;
      case JsonNumber::Kind::kHugeInt:
        list_.has_other = true;
        break;
      case JsonNumber::Kind::kDouble:
        become_doubles();
        store(number.real);
        break;
    }
  }

  void add_bool(bool flag) {
    if (holds_doubles_) {
      store(flag ? 1.0 : 0.0);
    } else {
      store(static_cast<std::int64_t>(flag));
      list_.highest = std::max<std::uint64_t>(list_.highest, flag ? 1 : 0);
    }
  }

  void add_int(std::int64_t number) {
    if (has_above_ && !options_.keeps_integers) {
      become_doubles();
      store(static_cast<double>(number));
      return;
    }
    has_int_ = true;
    list_.lowest = std::min(list_.lowest, number);
    list_.highest = std::max(list_.highest, static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0)));
    store(number);
  }

  void add_uint(std::uint64_t number) {
    if (has_int_ && !options_.keeps_integers) {
      become_doubles();
      store(static_cast<double>(number));
      return;
    }
    has_above_ = true;
    list_.highest = std::max(list_.highest, number);
    store(number);
  }

  // Makes what was stored so far doubles. Next to an integer above 2^63-1 there is no negative one, or the slots are of
  // no use.
  void become_doubles() {
    holds_doubles_ = true;
    if (list_.has_other) {
      return;
    }
    std::byte* const slots = list_.slots.data();
    for (std::size_t i = 0; i != list_.count; ++i) {
      double real = 0.0;
      if (has_above_) {
        std::uint64_t number = 0;
        std::memcpy(&number, slots + i * kSlotBytes, kSlotBytes);
        real = static_cast<double>(number);
      } else {
        std::int64_t number = 0;
        std::memcpy(&number, slots + i * kSlotBytes, kSlotBytes);
        real = static_cast<double>(number);
      }
      std::memcpy(slots + i * kSlotBytes, &real, kSlotBytes);
    }
  }

  template <class T>
  void store(T number) {
    static_assert(sizeof number == kSlotBytes);
    if (list_.has_other) {
      return;
    }
    if (list_.count == capacity_) {
      reserve(std::max(kFirstSlots, capacity_ * 2));
    }
    std::memcpy(list_.slots.data() + list_.count * kSlotBytes, &number, kSlotBytes);
  }

  void reserve(std::size_t slots) {
    Buffer larger = Buffer::allocate(slots * kSlotBytes);
    if (list_.count != 0) {
      std::memcpy(larger.data(), list_.slots.data(), list_.count * kSlotBytes);
    }
    list_.slots = std::move(larger);
    capacity_ = slots;
  }

  void note_ragged(std::size_t depth) { ragged_depth_ = std::min(ragged_depth_.value_or(depth), depth); }

  void finish() {
    const auto rank = static_cast<std::ptrdiff_t>(ragged_depth_.value_or(list_depths_));
    list_.shape.assign(sizes_.begin(), sizes_.begin() + rank);
    if (ragged_depth_) {
      list_.ragged = "setting an array element with a sequence. The requested array has an inhomogeneous shape after " +
                     std::to_string(*ragged_depth_) + " dimensions. The detected shape was " +
                     python_tuple(list_.shape) + " + inhomogeneous part.";
    } else if (is_too_deep_) {
      list_.ragged =
          "setting an array element with a sequence. The requested array would exceed the maximum number of dimension "
          "of 64.";
    }
    list_.has_both_extremes = has_above_ && list_.lowest < 0;
    if (holds_doubles_ || list_.count == 0) {
      list_.kind = NumberList::Kind::kFloat64;
    } else if (has_above_) {
      list_.kind = NumberList::Kind::kUInt64;
    } else {
      list_.kind = has_int_ ? NumberList::Kind::kInt64 : NumberList::Kind::kBool;
    }
  }

  JsonScanner& scanner_;
  const NumberListOptions& options_;
  NumberList list_;
  std::size_t capacity_ = 0;
  bool holds_doubles_;
  bool has_int_ = false;    // one that fits int64
  bool has_above_ = false;  // one that fits only uint64
  bool is_too_deep_ = false;
  std::array<std::int64_t, kMaxRank> sizes_{};  // of the lists at each depth
  std::size_t list_depths_ = 0;                 // depths at which lists were seen
  std::optional<std::size_t> leaf_depth_;
  std::optional<std::size_t> ragged_depth_;  // the first depth at which not all are lists of one length
};

}  // namespace

NumberList read_number_list(JsonScanner& scanner, const NumberListOptions& options) {
  return NumberListReader(scanner, options).read();
}

}  // namespace tessera
