#include "tessera/array/body.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "tessera/array/base64.h"

namespace tessera {
namespace {

// Text is handed out as it is from this size on, and gathered below; also the size of a first segment.
constexpr std::size_t kLargeText = 4096;
// Segments double up to here, so that a large body has few of them and the last one wastes little.
constexpr std::size_t kMaxBlock = std::size_t{2} << 20;

std::size_t encodable_bytes(std::size_t left, std::size_t room) {
  return base64_length(left) <= room ? left : room / 4 * 3;
}

}  // namespace

Body::Body(std::string text) {
  if (text.size() < kLargeText) {
    append(text);
    return;
  }
  size_bytes_ = text.size();
  const std::size_t size = text.size();
  auto owner = std::make_shared<std::string>(std::move(text));
  auto* const data = reinterpret_cast<std::byte*>(owner->data());
  segments_.emplace_back(TextSegment{Buffer::adopt(std::move(owner), data, size), size});
}

void Body::append(std::string_view text) {
  if (text.empty()) {
    return;
  }
  std::memcpy(prepare(text.size()), text.data(), text.size());
  grow(text.size());
}

char* Body::prepare(std::size_t size) {
  auto* last = segments_.empty() ? nullptr : std::get_if<TextSegment>(&segments_.back());
  if (last == nullptr || last->buffer.size_bytes() - last->size < size) {
    const auto block = static_cast<std::size_t>(std::clamp<std::uint64_t>(size_bytes_, kLargeText, kMaxBlock));
    TextSegment segment{Buffer::allocate(std::max(size, block)), 0};
    if (last != nullptr && last->size == 0) {
      *last = std::move(segment);
    } else {
      last = &std::get<TextSegment>(segments_.emplace_back(std::move(segment)));
    }
  }
  return reinterpret_cast<char*>(last->buffer.data()) + last->size;
}

void Body::grow(std::size_t size) {
  if (size != 0) {
    std::get<TextSegment>(segments_.back()).size += size;
    size_bytes_ += size;
  }
}

void Body::append_base64(Buffer bytes, std::size_t size_bytes) {
  if (size_bytes != 0) {
    segments_.emplace_back(Base64Segment{std::move(bytes), size_bytes});
    size_bytes_ += base64_length(size_bytes);
  }
}

std::span<const std::byte> Body::Cursor::next(std::span<std::byte> scratch) {
  std::size_t gathered = 0;
  while (segment_ != body_.segments_.size()) {
    const std::span<std::byte> room = scratch.subspan(gathered);
    std::size_t left = 0;
    if (const auto* const text = std::get_if<TextSegment>(&body_.segments_[segment_])) {
      left = text->size - offset_;
      const std::byte* const begin = text->buffer.data() + offset_;
      if (left >= kLargeText && gathered != 0) {
        break;
      }
      const std::size_t taken = std::min(left, room.size());
      left -= taken;
      if (left == 0) {
        ++segment_;
      }
      offset_ = left == 0 ? 0 : offset_ + taken;
      if (taken + left >= kLargeText) {
        return {begin, taken};
      }
      std::copy_n(begin, taken, room.begin());
      gathered += taken;
    } else {
      const auto& array = std::get<Base64Segment>(body_.segments_[segment_]);
      left = array.size_bytes - offset_;
      const std::size_t taken = encodable_bytes(left, room.size());
      base64_encode({array.bytes.data() + offset_, taken}, reinterpret_cast<char*>(room.data()));
      gathered += base64_length(taken);
      left -= taken;
      if (left == 0) {
        ++segment_;
      }
      offset_ = left == 0 ? 0 : offset_ + taken;
    }
    if (left != 0) {
      break;
    }
  }
  return scratch.first(gathered);
}

std::string Body::to_string() const {
  std::string text;
  text.reserve(static_cast<std::size_t>(size_bytes_));
  std::vector<std::byte> scratch(std::size_t{64} << 10);
  Cursor cursor(*this);
  for (auto piece = cursor.next(scratch); !piece.empty(); piece = cursor.next(scratch)) {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  return text;
}

}  // namespace tessera
