#include "tessera/sdk/cancellation.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace tessera {

Cancellation::Cancellation()
    : event_(std::make_shared<const UniqueFd>(UniqueFd::adopt(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)))) {
  if (!event_->is_open()) {
    throw std::system_error(errno, std::generic_category(), "eventfd");
  }
}

void Cancellation::cancel() const {
  // Fails only if the counter is full; then the switch has been set for long.
  static_cast<void>(eventfd_write(event_->value(), 1));
}

bool Cancellation::is_cancelled() const {
  pollfd event{event_->value(), POLLIN, 0};
  return poll(&event, 1, 0) == 1;
}

}  // namespace tessera
