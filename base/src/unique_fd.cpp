#include "tessera/base/unique_fd.h"

#include <unistd.h>

namespace tessera {

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

}  // namespace tessera
