#include "tessera/base/random_id.h"

#include <pthread.h>
#include <sys/random.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <random>

#include "tessera/base/uuid.h"

namespace tessera {
namespace {

constexpr std::size_t kIdBytes = 16;
constexpr std::size_t kPoolBytes = 4096;

// Counts forks, so that a child does not hand out the ids that its parent has in store.
std::atomic<std::uint32_t> fork_count{0};

struct Pool {
  std::array<std::uint8_t, kPoolBytes> bytes;
  std::size_t used;
  std::uint32_t filled_after_forks;
};

constinit thread_local Pool thread_pool{.bytes = {}, .used = kPoolBytes, .filled_after_forks = 0};

void watch_forks() {
  static const int kRegistered =
      ::pthread_atfork(nullptr, nullptr, [] { fork_count.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(kRegistered);
}

void fill(std::array<std::uint8_t, kPoolBytes>& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      break;
    }
  }
  // A sandbox may forbid the system call.
  if (done < bytes.size()) {
    std::random_device device;
    std::generate(bytes.begin() + static_cast<std::ptrdiff_t>(done), bytes.end(),
                  [&device] { return static_cast<std::uint8_t>(device()); });
  }
}

// The value of a digit; 16 for what is none.
constexpr std::array<std::uint8_t, 256> digit_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(16);
  for (std::uint8_t value = 0; value < 16; ++value) {
    values[static_cast<std::uint8_t>("0123456789abcdef"[value])] = value;
  }
  return values;
}

constexpr std::array<std::uint8_t, 256> kDigitValues = digit_values();

}  // namespace

std::optional<RandomId> RandomId::parse_hex(std::string_view text) {
  if (text.size() != 2 * kIdBytes) {
    return std::nullopt;
  }
  RandomId id;
  unsigned seen = 0;
  for (std::size_t i = 0; i < kIdBytes; ++i) {
    const unsigned high = kDigitValues[static_cast<std::uint8_t>(text[2 * i])];
    const unsigned low = kDigitValues[static_cast<std::uint8_t>(text[2 * i + 1])];
    seen |= high | low;
    id.bytes_[i] = static_cast<std::uint8_t>(high << 4U | low);
  }
  if (seen > 15) {
    return std::nullopt;
  }
  return id;
}

RandomId RandomId::make() {
  Pool& pool = thread_pool;
  const std::uint32_t forks = fork_count.load(std::memory_order_relaxed);
  if (pool.used + kIdBytes > kPoolBytes || pool.filled_after_forks != forks) {
    watch_forks();
    fill(pool.bytes);
    pool.used = 0;
    pool.filled_after_forks = forks;
  }
  RandomId id;
  std::copy_n(pool.bytes.begin() + static_cast<std::ptrdiff_t>(pool.used), kIdBytes, id.bytes_.begin());
  pool.used += kIdBytes;
  id.bytes_[6] = static_cast<std::uint8_t>((id.bytes_[6] & 0x0FU) | 0x40U);
  id.bytes_[8] = static_cast<std::uint8_t>((id.bytes_[8] & 0x3FU) | 0x80U);
  return id;
}

std::string RandomId::hex() const {
  std::array<char, 2 * kIdBytes> text{};
  write_hex(text);
  return {text.data(), text.size()};
}

void RandomId::write_hex(std::span<char, 32> text) const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::size_t at = 0;
  for (const std::uint8_t byte : bytes_) {
    text[at++] = kDigits[byte >> 4U];
    text[at++] = kDigits[byte & 0x0FU];
  }
}

std::string RandomId::dashed() const {
  return Uuid{bytes_}.text();
}

}  // namespace tessera
