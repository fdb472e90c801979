// Asks the driver P1 to P14, each question in a process of its own with a time limit: what one breaks or hangs in, the
// others do not see.
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "probes/probe.h"

namespace tessera::gpu_kit {
namespace {

struct Probe {
  const char* name;
  int seconds;
  void (*run)(Rows& rows);
};

// In the order of their value, should the time not do for all.
constexpr Probe kProbes[] = {
    {"P6 open times", 20, probe_open_times},
    {"P2 pid collision", 8, probe_pid_collision},
    {"P10 kept descriptor", 6, probe_kept_descriptor},
    {"P11 read only import", 6, probe_read_only_import},
    {"P1 open errors", 8, probe_open_errors},
    {"P9 event times", 6, probe_event_times},
    {"P9 event without shm", 6, probe_event_without_shm},
    {"P9 word times", 6, probe_word_times},
    {"P3 small allocations", 6, probe_small_allocations},
    {"P4 second export", 6, probe_second_export},
    {"P5 second context", 6, probe_second_context},
    {"P7 allocation times", 10, probe_allocation_times},
    {"P8 copy times", 10, probe_copy_times},
    {"P12 visible devices", 12, probe_visible_devices},
    {"P13 granularity", 6, probe_granularity},
    {"P14 freed while imported", 6, probe_freed_while_imported},
};

int run_one(const Probe& probe) {
  Rows rows;
  try {
    probe.run(rows);
  } catch (const std::exception& error) {
    rows.failed(probe.name, error.what());
  }
  return 0;
}

// Runs a probe in a process and a group of its own; returns what is wrong with how it ended.
std::string run_apart(const Probe& probe) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execl("/proc/self/exe", "kit_probes", "--probe", probe.name, nullptr);
    ::_exit(127);
  }
  ::setpgid(child, child);
  pollfd ended{static_cast<int>(::syscall(SYS_pidfd_open, child, 0)), POLLIN, 0};
  const bool is_late = ::poll(&ended, 1, probe.seconds * 1000) == 0;
  ::kill(-child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(ended.fd);
  if (is_late) {
    return "it was stopped after " + std::to_string(probe.seconds) + " s";
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : "its process ended with status " + std::to_string(status);
}

int run_all() {
  Rows rows;
  if (const Code code = Peer().ask({.order = Order::kInit}).code; code != 0) {
    rows.skipped("probes", "cuInit gives " + code_text(code));
    return 0;
  }
  for (const Probe& probe : kProbes) {
    if (const std::string problem = run_apart(probe); !problem.empty()) {
      rows.failed(probe.name, problem);
    }
  }
  return 0;
}

}  // namespace
}  // namespace tessera::gpu_kit

int main(int count, char** arguments) {
  using namespace tessera::gpu_kit;
  const std::string problem = load_driver(driver());
  const std::string_view option = count > 1 ? arguments[1] : "";
  if (!problem.empty()) {
    Rows().skipped("probes", problem);
    return option == "--peer" ? 1 : 0;
  }
  if (option == "--peer") {
    return run_peer(3);
  }
  if (option == "--answer-words" && count == 3) {
    return answer_words(arguments[2]);
  }
  if (option == "--probe" && count == 3) {
    for (const Probe& probe : kProbes) {
      if (std::strcmp(probe.name, arguments[2]) == 0) {
        return run_one(probe);
      }
    }
  }
  return run_all();
}
