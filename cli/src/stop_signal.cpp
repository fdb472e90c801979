#include "stop_signal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>

namespace tessera {
namespace {

// A pipe that was closed, or is none, reads as ended; what is written into it does not matter.
bool is_closed(int pipe_fd) {
  std::array<char, 256> ignored{};
  const ssize_t count = ::read(pipe_fd, ignored.data(), ignored.size());
  return count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
}

// For the handler, which may run on any thread.
constinit std::atomic<int> signal_event = -1;
constinit std::atomic<int> last_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void handle(int signal) {
  const int kept_errno = errno;
  last_signal = signal;
  (void)::eventfd_write(signal_event, 1);
  errno = kept_errno;
}

const char* name_of(int signal) {
  switch (signal) {
    case SIGHUP:
      return "SIGHUP";
    case SIGINT:
      return "SIGINT";
    default:
      return "SIGTERM";
  }
}

}  // namespace

StopSignal::StopSignal() : event_(UniqueFd::adopt(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  if (!event_.is_open()) {
    throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  signal_event = event_.value();
  sigset_t all{};
  ::sigemptyset(&all);
  for (const int signal : kSignals) {
    ::sigaddset(&all, signal);
  }
  // Whoever started this may have blocked them for itself.
  ::pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
  struct sigaction action{};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals.at(i), nullptr, &before_.at(i));
    if (kSignals.at(i) != SIGHUP || before_.at(i).sa_handler != SIG_IGN) {
      ::sigaction(kSignals.at(i), &action, nullptr);
    }
  }
}

StopSignal::~StopSignal() {
  give_signals_back();
}

void StopSignal::give_signals_back() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals.at(i), &before_.at(i), nullptr);
  }
}

const char* StopSignal::wait(int pipe_fd) {
  std::array<pollfd, 2> watched{
      {{.fd = event_.value(), .events = POLLIN, .revents = 0}, {.fd = pipe_fd, .events = POLLIN, .revents = 0}}};
  for (;;) {
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      continue;  // interrupted
    }
    if (watched[0].revents != 0) {
      give_signals_back();
      return name_of(last_signal);
    }
    if (watched[1].revents != 0 && is_closed(pipe_fd)) {
      give_signals_back();
      return "parent has ended";
    }
  }
}

}  // namespace tessera
