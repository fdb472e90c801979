#include "system_calls.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <set>
#include <thread>

namespace tessera::testing {
namespace {

std::string name_of(std::uint64_t number) {
  static const std::map<std::uint64_t, std::string> kNames = {
      {SYS_futex, "futex"},       {SYS_epoll_wait, "epoll_wait"}, {SYS_epoll_ctl, "epoll_ctl"},
      {SYS_recvfrom, "recvfrom"}, {SYS_sendmsg, "sendmsg"},       {SYS_dup2, "dup2"},
      {SYS_fcntl, "fcntl"},       {SYS_close, "close"},           {SYS_lseek, "lseek"}};
  const auto found = kNames.find(number);
  return found != kNames.end() ? found->second : std::to_string(number);
}

// Of one process: each thread is traced by the thread that made this.
class Tracer {
 public:
  explicit Tracer(pid_t process) : process_(process) {}

  bool attach() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process_) + "/task")) {
      const pid_t thread = std::stoi(entry.path().filename());
      if (::ptrace(PTRACE_SEIZE, thread, nullptr, PTRACE_O_TRACESYSGOOD) != 0) {
        detach();
        return false;
      }
      threads_.insert(thread);
      ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
    }
    return true;
  }

  // Until `is_over`, which is looked at whenever a thread stops and every millisecond.
  void follow(const std::atomic<bool>& is_over) {
    while (!is_over) {
      int status = 0;
      const pid_t thread = ::waitpid(-1, &status, __WALL | WNOHANG);
      if (thread <= 0 || !threads_.contains(thread)) {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        continue;
      }
      take(thread, status);
    }
    detach();
  }

  [[nodiscard]] const std::map<std::string, int>& counts() const { return counts_; }

 private:
  void take(pid_t thread, int status) {
    if (!WIFSTOPPED(status)) {
      threads_.erase(thread);
      return;
    }
    const int signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80)) {
      __ptrace_syscall_info info{};
      if (::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        ++counts_[name_of(info.entry.nr)];
      }
    }
    const bool is_ours = signal == (SIGTRAP | 0x80) || status >> 16 != 0;
    ::ptrace(PTRACE_SYSCALL, thread, nullptr, is_ours ? 0 : signal);
  }

  // A thread has to stand still for that.
  void detach() {
    for (const pid_t thread : threads_) {
      ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
      int status = 0;
      if (::waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status)) {
        ::ptrace(PTRACE_DETACH, thread, nullptr, nullptr);
      }
    }
    threads_.clear();
  }

  pid_t process_;
  std::set<pid_t> threads_;
  std::map<std::string, int> counts_;
};

}  // namespace

std::optional<std::map<std::string, int>> count_system_calls(pid_t process, const std::function<void()>& work) {
  // The work may wait for the process, so it is done beside.
  Tracer tracer(process);
  if (!tracer.attach()) {
    return std::nullopt;
  }
  std::atomic<bool> is_over{false};
  std::thread worker([&] {
    work();
    is_over = true;
  });
  tracer.follow(is_over);
  worker.join();
  return tracer.counts();
}

}  // namespace tessera::testing
