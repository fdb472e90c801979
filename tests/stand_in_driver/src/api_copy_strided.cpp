// Copies of two and three dimensions.
#include <variant>

#include "copy.h"

namespace tessera::stand_in {
namespace {

enum MemoryType : unsigned { kTypeHost = 1, kTypeDevice = 2, kTypeArray = 3, kTypeUnified = 4 };

// CUDA_MEMCPY2D.
struct Description2D {
  std::size_t source_x;
  std::size_t source_y;
  unsigned source_type;
  const void* source_host;
  std::uint64_t source_device;
  void* source_array;
  std::size_t source_pitch;
  std::size_t target_x;
  std::size_t target_y;
  unsigned target_type;
  void* target_host;
  std::uint64_t target_device;
  void* target_array;
  std::size_t target_pitch;
  std::size_t width;
  std::size_t height;
};
static_assert(sizeof(Description2D) == 128);

// CUDA_MEMCPY3D.
struct Description3D {
  std::size_t source_x;
  std::size_t source_y;
  std::size_t source_z;
  std::size_t source_level;
  unsigned source_type;
  const void* source_host;
  std::uint64_t source_device;
  void* source_array;
  void* reserved_0;
  std::size_t source_pitch;
  std::size_t source_height;
  std::size_t target_x;
  std::size_t target_y;
  std::size_t target_z;
  std::size_t target_level;
  unsigned target_type;
  void* target_host;
  std::uint64_t target_device;
  void* target_array;
  void* reserved_1;
  std::size_t target_pitch;
  std::size_t target_height;
  std::size_t width;
  std::size_t height;
  std::size_t depth;
};
static_assert(sizeof(Description3D) == 200);

Description3D widen(const Description2D& flat) {
  Description3D description{};
  description.source_x = flat.source_x;
  description.source_y = flat.source_y;
  description.source_type = flat.source_type;
  description.source_host = flat.source_host;
  description.source_device = flat.source_device;
  description.source_pitch = flat.source_pitch;
  description.target_x = flat.target_x;
  description.target_y = flat.target_y;
  description.target_type = flat.target_type;
  description.target_host = flat.target_host;
  description.target_device = flat.target_device;
  description.target_pitch = flat.target_pitch;
  description.width = flat.width;
  description.height = flat.height;
  description.depth = 1;
  return description;
}

std::uint64_t base_of(unsigned type, const void* host, std::uint64_t device) {
  return type == kTypeHost ? reinterpret_cast<std::uint64_t>(host) : device;
}

Side side_of(unsigned type) {
  return type == kTypeHost ? Side::kHost : type == kTypeDevice ? Side::kDevice : Side::kEither;
}

std::variant<Box, Result> box_of(std::uint64_t base, std::size_t x, std::size_t y, std::size_t z, std::size_t pitch,
                                 std::size_t height, const Description3D& description) {
  std::size_t line = pitch == 0 && description.height <= 1 ? description.width : pitch;
  std::size_t lines = height == 0 ? description.height : height;
  // Lines may not overlap, nor layers.
  if ((description.height > 1 && line < description.width + x) ||
      (description.depth > 1 && lines < description.height + y)) {
    return kInvalidValue;
  }
  std::uint64_t slice = 0;
  std::uint64_t offset = 0;
  std::uint64_t part = 0;
  if (__builtin_mul_overflow(line, lines, &slice) || __builtin_mul_overflow(slice, z, &offset) ||
      __builtin_mul_overflow(line, y, &part) || __builtin_add_overflow(offset, part, &offset) ||
      __builtin_add_overflow(offset, x, &offset) || __builtin_add_overflow(base, offset, &offset)) {
    return kInvalidValue;
  }
  return Box{offset, line, slice};
}

Result copy_box(Driver& driver, Context& context, const Description3D& given, void* stream, bool is_per_thread,
                HostWait wait) {
  if (given.source_type < kTypeHost || given.source_type > kTypeUnified || given.target_type < kTypeHost ||
      given.target_type > kTypeUnified) {
    return kInvalidValue;
  }
  if (given.source_type == kTypeArray || given.target_type == kTypeArray) {
    return kNotSupported;
  }
  auto source = box_of(base_of(given.source_type, given.source_host, given.source_device), given.source_x,
                       given.source_y, given.source_z, given.source_pitch, given.source_height, given);
  auto target = box_of(base_of(given.target_type, given.target_host, given.target_device), given.target_x,
                       given.target_y, given.target_z, given.target_pitch, given.target_height, given);
  if (std::holds_alternative<Result>(source) || std::holds_alternative<Result>(target)) {
    return kInvalidValue;
  }
  Copy copy;
  copy.source = std::get<Box>(source);
  copy.target = std::get<Box>(target);
  if (driver.breaks(Mutation::pitch_ignored)) {
    copy.source.pitch = given.width;
  }
  copy.extent = {given.width, given.height, given.depth};
  copy.source_side = side_of(given.source_type);
  copy.target_side = side_of(given.target_type);
  return submit_copy(driver, context, copy, stream, is_per_thread, wait);
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): CUDA's names
#define TESSERA_COPY_2D(name, is_per_thread)                                                                       \
  TESSERA_STAND_IN_EXPORT int name(const Description2D* description) {                                             \
    return call_in_context(Function::name, [&](Driver& driver, Context& context) {                                 \
      return description == nullptr                                                                                \
                 ? kInvalidValue                                                                                   \
                 : copy_box(driver, context, widen(*description), nullptr, is_per_thread, HostWait::kAsPlainCopy); \
    });                                                                                                            \
  }
#define TESSERA_COPY_2D_ASYNC(name, is_per_thread)                                                          \
  TESSERA_STAND_IN_EXPORT int name(const Description2D* description, void* stream) {                        \
    return call_in_context(Function::name, [&](Driver& driver, Context& context) {                          \
      return description == nullptr                                                                         \
                 ? kInvalidValue                                                                            \
                 : copy_box(driver, context, widen(*description), stream, is_per_thread, HostWait::kNever); \
    });                                                                                                     \
  }
#define TESSERA_COPY_3D(name, is_per_thread)                                                                \
  TESSERA_STAND_IN_EXPORT int name(const Description3D* description) {                                      \
    return call_in_context(Function::name, [&](Driver& driver, Context& context) {                          \
      return description == nullptr                                                                         \
                 ? kInvalidValue                                                                            \
                 : copy_box(driver, context, *description, nullptr, is_per_thread, HostWait::kAsPlainCopy); \
    });                                                                                                     \
  }
#define TESSERA_COPY_3D_ASYNC(name, is_per_thread)                                                   \
  TESSERA_STAND_IN_EXPORT int name(const Description3D* description, void* stream) {                 \
    return call_in_context(Function::name, [&](Driver& driver, Context& context) {                   \
      return description == nullptr                                                                  \
                 ? kInvalidValue                                                                     \
                 : copy_box(driver, context, *description, stream, is_per_thread, HostWait::kNever); \
    });                                                                                              \
  }

TESSERA_COPY_2D(cuMemcpy2D_v2, false)
TESSERA_COPY_2D(cuMemcpy2D_v2_ptds, true)
TESSERA_COPY_2D(cuMemcpy2DUnaligned_v2, false)
TESSERA_COPY_2D(cuMemcpy2DUnaligned_v2_ptds, true)
TESSERA_COPY_2D_ASYNC(cuMemcpy2DAsync_v2, false)
TESSERA_COPY_2D_ASYNC(cuMemcpy2DAsync_v2_ptsz, true)
TESSERA_COPY_3D(cuMemcpy3D_v2, false)
TESSERA_COPY_3D(cuMemcpy3D_v2_ptds, true)
TESSERA_COPY_3D_ASYNC(cuMemcpy3DAsync_v2, false)
TESSERA_COPY_3D_ASYNC(cuMemcpy3DAsync_v2_ptsz, true)
// NOLINTEND(readability-identifier-naming)

}  // namespace tessera::stand_in
