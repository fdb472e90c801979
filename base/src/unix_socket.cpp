#include "tessera/base/unix_socket.h"

#include <sys/socket.h>

namespace tessera {

void lengthen_unix_queue(int socket) {
  // Twice as much as is asked for is given (socket(7)); up to the usual wmem_max no permission is needed.
  const int wanted = 208 << 10;
  static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &wanted, sizeof wanted));
}

}  // namespace tessera
