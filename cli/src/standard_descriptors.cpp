#include "standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace tessera {

void open_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
      // The lowest number that is free is this one.
      (void)::open("/dev/null", O_RDWR);  // NOLINT(cppcoreguidelines-pro-type-vararg,android-cloexec-open): inherited
    }
  }
}

}  // namespace tessera
