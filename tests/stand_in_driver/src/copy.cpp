#include "copy.h"

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::stand_in {
namespace {

// What kernels do to memory no sanitizer sees: two streams that race are the client's mistake, to be found by its
// bytes, not reported as a data race inside this library.
#if defined(TESSERA_SANITIZED) && defined(__x86_64__)
void move_bytes(void* target, const void* source, std::size_t size) {
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(size) : : "memory");
}
void set_bytes(void* target, unsigned char value, std::size_t size) {
  asm volatile("rep stosb" : "+D"(target), "+c"(size) : "a"(value) : "memory");
}
#else
void move_bytes(void* target, const void* source, std::size_t size) {
  std::memmove(target, source, size);
}
void set_bytes(void* target, unsigned char value, std::size_t size) {
  std::memset(target, value, size);
}
#endif

std::optional<std::uint64_t> span_of(const Box& box, const Extent& extent) {
  std::uint64_t lines = 0;
  std::uint64_t layers = 0;
  std::uint64_t sum = 0;
  bool is_too_large = __builtin_mul_overflow(box.pitch, extent.height - 1, &lines) ||
                      __builtin_mul_overflow(box.slice, extent.depth - 1, &layers) ||
                      __builtin_add_overflow(lines, layers, &sum) || __builtin_add_overflow(sum, extent.width, &sum) ||
                      __builtin_add_overflow(box.address, sum, &lines);
  return is_too_large ? std::nullopt : std::optional(sum);
}

// Where one side of a copy is, once it is done.
class Place {
 public:
  static std::optional<Place> find(Driver& driver, std::size_t ordinal, std::uint64_t address, std::uint64_t size,
                                   bool is_device, bool is_write) {
    Place place;
    if (!is_device) {
      place.segments_.push_back({reinterpret_cast<std::byte*>(address), size, nullptr});  // NOLINT
      return place;
    }
    MutexLock lock(driver.mutex);
    std::optional<std::vector<Segment>> segments = driver.space.translate(address, size, ordinal, is_write);
    if (!segments) {
      return std::nullopt;
    }
    place.segments_ = std::move(*segments);
    return place;
  }

  // Calls `body` with each stretch of a range.
  template <typename Body>
  void each(std::uint64_t offset, std::uint64_t size, Body body) const {
    for (const Segment& segment : segments_) {
      if (size == 0) {
        return;
      }
      if (offset >= segment.size_bytes) {
        offset -= segment.size_bytes;
        continue;
      }
      std::uint64_t here = std::min(size, segment.size_bytes - offset);
      body(segment.bytes + offset, here);
      offset = 0;
      size -= here;
    }
  }

 private:
  std::vector<Segment> segments_;
};

void copy_lines(const Place& target, const Box& target_box, const Place& source, const Box& source_box,
                const Extent& extent) {
  for (std::uint64_t layer = 0; layer < extent.depth; ++layer) {
    for (std::uint64_t line = 0; line < extent.height; ++line) {
      std::uint64_t from = layer * source_box.slice + line * source_box.pitch;
      std::uint64_t to = layer * target_box.slice + line * target_box.pitch;
      target.each(to, extent.width, [&](std::byte* bytes, std::uint64_t size) {
        std::byte* out = bytes;
        source.each(from, size, [&](const std::byte* in, std::uint64_t length) {
          move_bytes(out, in, length);
          out += length;
        });
        from += size;
      });
    }
  }
}

// Which sides are device memory; an error for an address that is not what the call says.
struct Sides {
  bool is_target_device = false;
  bool is_source_device = false;
  bool is_source_pinned = false;
};

std::variant<Sides, Result> check(Driver& driver, Context& context, const Copy& copy, std::uint64_t target_size,
                                  std::uint64_t source_size) {
  MutexLock lock(driver.mutex);
  AddressSpace& space = driver.space;
  auto is_device = [&](std::uint64_t address) TESSERA_REQUIRES(driver.mutex) {
    return space.is_device_address(address) || space.find_mapping(address) != nullptr;
  };
  Sides sides;
  sides.is_target_device =
      copy.target_side == Side::kDevice || (copy.target_side == Side::kEither && is_device(copy.target.address));
  sides.is_source_device =
      copy.source_side == Side::kDevice || (copy.source_side == Side::kEither && is_device(copy.source.address));
  if (sides.is_target_device && !space.translate(copy.target.address, target_size, context.ordinal(), true)) {
    return kInvalidValue;
  }
  if (sides.is_source_device && !space.translate(copy.source.address, source_size, context.ordinal(), false)) {
    return kInvalidValue;
  }
  // A device address where the call takes host memory: the driver would crash or refuse.
  if ((!sides.is_target_device && space.is_device_address(copy.target.address)) ||
      (!sides.is_source_device && space.is_device_address(copy.source.address))) {
    return kInvalidValue;
  }
  const Allocation* source = space.find_allocation(copy.source.address);
  sides.is_source_pinned = source != nullptr && source->kind == Kind::kHost;
  return sides;
}

}  // namespace

Result submit_copy(Driver& driver, Context& context, const Copy& given, void* stream, bool is_per_thread,
                   HostWait wait) {
  std::shared_ptr<Stream> queue = context.find_stream(stream, is_per_thread);
  if (queue == nullptr) {
    return kInvalidHandle;
  }
  Copy copy = given;
  if (copy.extent.width == 0 || copy.extent.height == 0 || copy.extent.depth == 0) {
    return kSuccess;
  }
  std::optional<std::uint64_t> target_size = span_of(copy.target, copy.extent);
  std::optional<std::uint64_t> source_size = span_of(copy.source, copy.extent);
  if (!target_size || !source_size || copy.target.address == 0 || copy.source.address == 0) {
    return kInvalidValue;
  }
  std::variant<Sides, Result> checked = check(driver, context, copy, *target_size, *source_size);
  if (const Result* error = std::get_if<Result>(&checked)) {
    return *error;
  }
  Sides sides = std::get<Sides>(checked);

  // Pageable memory is copied before the call returns; the copy to the device may still be on its way.
  std::shared_ptr<std::vector<std::byte>> staging;
  if (!sides.is_source_device && !sides.is_source_pinned) {
    const auto* bytes = reinterpret_cast<const std::byte*>(copy.source.address);  // NOLINT
    staging = std::make_shared<std::vector<std::byte>>(bytes, bytes + *source_size);
    copy.source.address = reinterpret_cast<std::uint64_t>(staging->data());
  }
  std::shared_ptr<Completion> done =
      context.submit(queue, {}, [&driver, &context, copy, sides, staging, to = *target_size, from = *source_size] {
        std::size_t ordinal = context.ordinal();
        std::optional<Place> target =
            Place::find(driver, ordinal, copy.target.address, to, sides.is_target_device, true);
        std::optional<Place> source =
            Place::find(driver, ordinal, copy.source.address, from, sides.is_source_device, false);
        if (!target || !source) {
          context.set_sticky_error(kIllegalAddress);
          return;
        }
        copy_lines(*target, copy.target, *source, copy.source, copy.extent);
      });
  // To pageable memory even the asynchronous copy waits.
  bool is_to_host = !sides.is_target_device;
  bool is_from_pinned = !sides.is_source_device && sides.is_source_pinned;
  if (is_to_host || (wait == HostWait::kAsPlainCopy && is_from_pinned)) {
    bool is_pinned_target = false;
    {
      MutexLock lock(driver.mutex);
      const Allocation* target = driver.space.find_allocation(copy.target.address);
      is_pinned_target = is_to_host && target != nullptr && target->kind == Kind::kHost;
    }
    if (wait == HostWait::kAsPlainCopy || !is_pinned_target) {
      done->hurry();
      done->wait();
      return context.sticky_error();
    }
  }
  return kSuccess;
}

Result submit_fill(Driver& driver, Context& context, std::uint64_t address, unsigned char value,
                   std::uint64_t size_bytes, void* stream, bool is_per_thread) {
  std::shared_ptr<Stream> queue = context.find_stream(stream, is_per_thread);
  if (queue == nullptr) {
    return kInvalidHandle;
  }
  if (size_bytes == 0) {
    return kSuccess;
  }
  {
    MutexLock lock(driver.mutex);
    if (!driver.space.translate(address, size_bytes, context.ordinal(), true)) {
      return kInvalidValue;
    }
  }
  context.submit(queue, {}, [&driver, &context, address, value, size_bytes] {
    std::optional<Place> target = Place::find(driver, context.ordinal(), address, size_bytes, true, true);
    if (!target) {
      context.set_sticky_error(kIllegalAddress);
      return;
    }
    target->each(0, size_bytes, [value](std::byte* bytes, std::uint64_t size) { set_bytes(bytes, value, size); });
  });
  return kSuccess;
}

}  // namespace tessera::stand_in
