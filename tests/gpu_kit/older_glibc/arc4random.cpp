// The one function by which libstdc++ of Debian 12 asks for glibc 2.36: with it here, the kit runs on Ubuntu 22.04 too.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != sizeof(number)) {
    std::abort();
  }
  return number;
}
