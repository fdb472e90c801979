// Copies of one range, and fills. Each call has a twin whose default stream is the thread's own.
#include "copy.h"

namespace tessera::stand_in {
namespace {

Result copy_range(Driver& driver, Context& context, std::uint64_t target, Side target_side, std::uint64_t source,
                  Side source_side, std::size_t size, void* stream, bool is_per_thread, HostWait wait) {
  Copy copy;
  copy.target.address = target;
  copy.source.address = source;
  copy.extent.width = size;
  copy.target_side = target_side;
  copy.source_side = source_side;
  return submit_copy(driver, context, copy, stream, is_per_thread, wait);
}

std::uint64_t number(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}
std::uint64_t number(std::uint64_t address) {
  return address;
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses,readability-identifier-naming)
#define TESSERA_COPY(name, Target, target_side, Source, source_side, is_per_thread)                               \
  TESSERA_STAND_IN_EXPORT int name(Target target, Source source, std::size_t size) {                              \
    return call_in_context(Function::name, [&](Driver& driver, Context& context) {                                \
      return copy_range(driver, context, number(target), target_side, number(source), source_side, size, nullptr, \
                        is_per_thread, HostWait::kAsPlainCopy);                                                   \
    });                                                                                                           \
  }
#define TESSERA_COPY_ASYNC(name, Target, target_side, Source, source_side, is_per_thread)                        \
  TESSERA_STAND_IN_EXPORT int name(Target target, Source source, std::size_t size, void* stream) {               \
    return call_in_context(Function::name, [&](Driver& driver, Context& context) {                               \
      return copy_range(driver, context, number(target), target_side, number(source), source_side, size, stream, \
                        is_per_thread, HostWait::kNever);                                                        \
    });                                                                                                          \
  }

TESSERA_COPY(cuMemcpy, std::uint64_t, Side::kEither, std::uint64_t, Side::kEither, false)
TESSERA_COPY(cuMemcpy_ptds, std::uint64_t, Side::kEither, std::uint64_t, Side::kEither, true)
TESSERA_COPY_ASYNC(cuMemcpyAsync, std::uint64_t, Side::kEither, std::uint64_t, Side::kEither, false)
TESSERA_COPY_ASYNC(cuMemcpyAsync_ptsz, std::uint64_t, Side::kEither, std::uint64_t, Side::kEither, true)
TESSERA_COPY(cuMemcpyHtoD_v2, std::uint64_t, Side::kDevice, const void*, Side::kHost, false)
TESSERA_COPY(cuMemcpyHtoD_v2_ptds, std::uint64_t, Side::kDevice, const void*, Side::kHost, true)
TESSERA_COPY_ASYNC(cuMemcpyHtoDAsync_v2, std::uint64_t, Side::kDevice, const void*, Side::kHost, false)
TESSERA_COPY_ASYNC(cuMemcpyHtoDAsync_v2_ptsz, std::uint64_t, Side::kDevice, const void*, Side::kHost, true)
TESSERA_COPY(cuMemcpyDtoH_v2, void*, Side::kHost, std::uint64_t, Side::kDevice, false)
TESSERA_COPY(cuMemcpyDtoH_v2_ptds, void*, Side::kHost, std::uint64_t, Side::kDevice, true)
TESSERA_COPY_ASYNC(cuMemcpyDtoHAsync_v2, void*, Side::kHost, std::uint64_t, Side::kDevice, false)
TESSERA_COPY_ASYNC(cuMemcpyDtoHAsync_v2_ptsz, void*, Side::kHost, std::uint64_t, Side::kDevice, true)
TESSERA_COPY(cuMemcpyDtoD_v2, std::uint64_t, Side::kDevice, std::uint64_t, Side::kDevice, false)
TESSERA_COPY(cuMemcpyDtoD_v2_ptds, std::uint64_t, Side::kDevice, std::uint64_t, Side::kDevice, true)
TESSERA_COPY_ASYNC(cuMemcpyDtoDAsync_v2, std::uint64_t, Side::kDevice, std::uint64_t, Side::kDevice, false)
TESSERA_COPY_ASYNC(cuMemcpyDtoDAsync_v2_ptsz, std::uint64_t, Side::kDevice, std::uint64_t, Side::kDevice, true)

#define TESSERA_FILL(name, is_per_thread)                                                          \
  TESSERA_STAND_IN_EXPORT int name(std::uint64_t address, unsigned char value, std::size_t size) { \
    return call_in_context(Function::name, [&](Driver& driver, Context& context) {                 \
      return submit_fill(driver, context, address, value, size, nullptr, is_per_thread);           \
    });                                                                                            \
  }
#define TESSERA_FILL_ASYNC(name, is_per_thread)                                                                  \
  TESSERA_STAND_IN_EXPORT int name(std::uint64_t address, unsigned char value, std::size_t size, void* stream) { \
    return call_in_context(Function::name, [&](Driver& driver, Context& context) {                               \
      return submit_fill(driver, context, address, value, size, stream, is_per_thread);                          \
    });                                                                                                          \
  }

TESSERA_FILL(cuMemsetD8_v2, false)
TESSERA_FILL(cuMemsetD8_v2_ptds, true)
TESSERA_FILL_ASYNC(cuMemsetD8Async, false)
TESSERA_FILL_ASYNC(cuMemsetD8Async_ptsz, true)
// NOLINTEND(bugprone-macro-parentheses,readability-identifier-naming)

}  // namespace tessera::stand_in
