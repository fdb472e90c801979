// Tells the address sanitizer which bytes of a block nobody may touch; costs nothing without it.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define TESSERA_HAS_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TESSERA_HAS_ADDRESS_SANITIZER
#endif
#endif
#ifdef TESSERA_HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace tessera {

inline void forbid_access([[maybe_unused]] std::byte* begin, [[maybe_unused]] std::size_t size) {
#ifdef TESSERA_HAS_ADDRESS_SANITIZER
  ASAN_POISON_MEMORY_REGION(begin, size);
#endif
}

inline void permit_access([[maybe_unused]] std::byte* begin, [[maybe_unused]] std::size_t size) {
#ifdef TESSERA_HAS_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION(begin, size);
#endif
}

}  // namespace tessera
