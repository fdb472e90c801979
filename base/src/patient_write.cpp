#include "tessera/base/patient_write.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>

namespace tessera {

ssize_t write_patiently(int descriptor, std::string_view text, std::chrono::milliseconds patience) noexcept {
  for (;;) {
    ::pollfd polled{.fd = descriptor, .events = POLLOUT, .revents = 0};
    if (::poll(&polled, 1, static_cast<int>(patience.count())) == 0) {
      return 0;
    }
    const ssize_t count = ::write(descriptor, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (count >= 0 || errno != EINTR) {
      return count;
    }
  }
}

}  // namespace tessera
