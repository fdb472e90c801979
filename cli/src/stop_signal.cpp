#include "stop_signal.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace tessera {
namespace {

// A pipe that was closed, or is none, reads as ended; what is written into it does not matter.
bool is_closed(int pipe_fd) {
  std::array<char, 256> ignored{};
  const ssize_t count = ::read(pipe_fd, ignored.data(), ignored.size());
  return count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
}

const char* name_of(std::uint32_t signal) {
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

StopSignal::StopSignal() {
  sigset_t stop{};
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTERM);
  ::sigaddset(&stop, SIGINT);
  struct sigaction hang_up{};
  if (::sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) {
    ::sigaddset(&stop, SIGHUP);
  }
  ::pthread_sigmask(SIG_BLOCK, &stop, &before_);
  signals_ = UniqueFd::adopt(::signalfd(-1, &stop, SFD_CLOEXEC));
  if (!signals_.is_open()) {
    throw std::system_error(errno, std::generic_category(), "signalfd");
  }
}

StopSignal::~StopSignal() {
  give_signals_back();
}

void StopSignal::give_signals_back() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

const char* StopSignal::wait(int pipe_fd) {
  std::array<pollfd, 2> watched{
      {{.fd = signals_.value(), .events = POLLIN, .revents = 0}, {.fd = pipe_fd, .events = POLLIN, .revents = 0}}};
  for (;;) {
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      continue;  // interrupted
    }
    if (watched[0].revents != 0) {
      signalfd_siginfo taken{};
      // Takes the signal, so that it does not end the process when signals are given back.
      if (::read(signals_.value(), &taken, sizeof taken) < 0 && errno != EAGAIN) {
        continue;
      }
      give_signals_back();
      return name_of(taken.ssi_signo);
    }
    if (watched[1].revents != 0 && is_closed(pipe_fd)) {
      give_signals_back();
      return "parent has ended";
    }
  }
}

}  // namespace tessera
