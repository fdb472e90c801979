// What this process was doing when an endpoint took it down: noted before, told by a signal handler.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace tessera {

/// States that something runs that may end the process, such as an endpoint, for as long as it lives: a few stores, no
/// system call but for a thread's first note, which gives that thread a stack for signal handlers. At most 64 at once
/// are told of, and 511 bytes of each. May be made on any thread, and ends on the same one.
class CrashNote final {
 public:
  struct Call {
    std::string_view tesseract;
    std::string_view endpoint;
    std::string_view output;      ///< the folder of all runs; empty without a run
    std::string_view run_folder;  ///< that lies in it; empty: it is the run's own
    std::string_view id;          ///< of the request; empty without one
  };
  /// Of a call. Both of these copy the texts.
  explicit CrashNote(const Call& call);
  /// Of anything else, in a few words: "loading ./heat.so".
  explicit CrashNote(std::string_view doing);
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;
  ~CrashNote();

 private:
  explicit CrashNote(std::initializer_list<std::string_view> parts);

  std::size_t slot_;
};

/// Writes a line for every CrashNote that lives, and what was captured of the output and is in no file yet; nothing if
/// there is no note, or a second time. `cause` is "SIGSEGV", "exit(3)", …. `as_json` writes the lines as JSON. Returns
/// whether there was a note. Async-signal-safe.
bool write_crash_notice(int descriptor, std::string_view cause, bool as_json) noexcept;

}  // namespace tessera
