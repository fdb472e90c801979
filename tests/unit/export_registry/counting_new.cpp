#include "counting_new.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> in_use{0};
thread_local std::size_t calls_to_failure = 0;

std::int64_t size_of_block(void* block) {
  return block == nullptr ? 0 : static_cast<std::int64_t>(::malloc_usable_size(block) + sizeof(std::size_t));
}

}  // namespace

namespace tessera::testing {

std::int64_t bytes_in_use() {
  return in_use.load();
}

void fail_new_after(std::size_t count) {
  calls_to_failure = count;
}

}  // namespace tessera::testing

void* operator new(std::size_t size) {
  const bool must_fail = calls_to_failure == 1;
  calls_to_failure -= calls_to_failure > 0 ? 1 : 0;
  void* block = must_fail ? nullptr : std::malloc(size);
  if (block == nullptr) {
    throw std::bad_alloc();
  }
  in_use.fetch_add(size_of_block(block), std::memory_order_relaxed);
  return block;
}

// GoogleTest sorts with such a buffer.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* block) noexcept {
  in_use.fetch_sub(size_of_block(block), std::memory_order_relaxed);
  std::free(block);
}

void operator delete(void* block, std::size_t /*size*/) noexcept {
  operator delete(block);
}
