#include "crash_handler.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tessera/daemon/crash_notice.h"

namespace tessera {
namespace {

struct FatalSignal {
  int number;
  std::string_view name;
};

constexpr auto kFatalSignals = std::to_array<FatalSignal>({
    {SIGSEGV, "SIGSEGV"},
    {SIGBUS, "SIGBUS"},
    {SIGFPE, "SIGFPE"},
    {SIGILL, "SIGILL"},
    {SIGABRT, "SIGABRT"},
});

// Set before the handlers are, and constant from then on.
constinit int notice_descriptor = -1;
constinit bool is_json_log = false;
constinit std::array<struct sigaction, kFatalSignals.size()> actions_before{};

void handle(int number, siginfo_t* info, void* /*context*/) {
  const auto* const signal = std::ranges::find(kFatalSignals, number, &FatalSignal::number);
  (void)write_crash_notice(notice_descriptor, signal->name, is_json_log);
  // As if this handler had never been. A fault comes again by itself, at the same instruction; what was sent does not.
  const auto index = static_cast<std::size_t>(signal - kFatalSignals.begin());
  (void)::sigaction(number, &actions_before.at(index), nullptr);
  if (info->si_code <= 0) {
    (void)::raise(number);
  }
}

void tell_of_exit(std::string_view function) {
  (void)std::fflush(stdout);  // into what captures the output
  (void)write_crash_notice(notice_descriptor, function, is_json_log);
}

void handle_exit() {
  tell_of_exit("exit(3)");
}

void handle_quick_exit() {
  tell_of_exit("quick_exit(3)");
}

}  // namespace

void tell_of_crashes(bool as_json) {
  notice_descriptor = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (notice_descriptor < 0) {
    return;
  }
  is_json_log = as_json;
  struct sigaction action{};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    (void)::sigaction(kFatalSignals.at(i).number, &action, &actions_before.at(i));
  }
  (void)std::atexit(handle_exit);
  (void)std::at_quick_exit(handle_quick_exit);
}

}  // namespace tessera
