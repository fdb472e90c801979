#include "tessera/base/socket_flow.h"

#include <poll.h>
#include <sys/socket.h>

#include <thread>

namespace tessera {

short poll_in_flow(int socket, short events) {
  static const bool kHasTwoCores = std::thread::hardware_concurrency() > 1;
  return kHasTwoCores ? poll_without_sleep(socket, events, std::chrono::microseconds(20)) : short{0};
}

short poll_without_sleep(int socket, short events, std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    ::pollfd polled{socket, events, 0};
    if (::poll(&polled, 1, 0) > 0) {
      return polled.revents;
    }
  } while (std::chrono::steady_clock::now() < end);
  return 0;
}

void lengthen_unix_queue(int socket) {
  // Twice as much as is asked for is given (socket(7)); up to the usual wmem_max no permission is needed.
  const int wanted = 208 << 10;
  int given = 0;
  ::socklen_t size = sizeof given;
  if (::getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &given, &size) == 0 && given < 2 * wanted) {
    static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &wanted, sizeof wanted));
  }
}

}  // namespace tessera
