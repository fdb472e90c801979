// The lock of Python's interpreter (the GIL), held and released in a scope.
//
// While the interpreter ends, no thread but the one that ends it may ask for the lock: up to Python 3.13 the thread
// would be ended by unwinding its stack, which destructors forbid, and later there is nothing left to ask. So from the
// first moment of that end, which Python's atexit tells, such a thread waits for the end of the process instead, as it
// does by itself from Python 3.14 on.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <utility>

namespace tessera::python {

/// Has Python tell of its end, and a forked child start anew. Called once, when the module is made.
void watch_for_the_end(nanobind::module_& module);

/// A thread on its way to the lock: the interpreter does not begin to end before it has it. Objects live until then.
class AskingForGil {
 public:
  AskingForGil();
  AskingForGil(const AskingForGil&) = delete;
  AskingForGil& operator=(const AskingForGil&) = delete;
  ~AskingForGil();
  /// False once the interpreter ends, on all other threads than the one that ends it.
  [[nodiscard]] bool is_allowed() const { return is_allowed_; }

 private:
  bool is_allowed_;
};

/// Whether this is the thread that ends the interpreter, at that time.
[[nodiscard]] bool is_ending_thread();

/// Keeps this thread until the process ends.
[[noreturn]] inline void wait_for_the_end() {
  while (true) {
    pause();
  }
}

/// Runs what may give the lock away and take it again: Python's functions, and code of the user's. Keeps a thread that
/// was ended there.
template <class Work>
auto keep_from_unwinding(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const abi::__forced_unwind&) {
    wait_for_the_end();
  }
}

/// Runs `work` with the lock, on whatever thread; not at all, and gives false, if the interpreter is ending or gone.
template <class Work>
bool try_with_gil(Work work) {
  PyGILState_STATE state{};
  {
    const AskingForGil asking;
    if (!asking.is_allowed() || Py_IsInitialized() == 0) {
      return false;
    }
    state = PyGILState_Ensure();
  }
  struct Release {
    ~Release() { PyGILState_Release(state); }
    PyGILState_STATE state;
  };
  const Release release{state};
  keep_from_unwinding(std::move(work));
  return true;
}

/// Runs `work` with the lock, on whatever thread. Does not return if the interpreter is ending, but on the thread that
/// ends it: there it does nothing.
template <class Work>
void with_gil(Work work) {
  if (!try_with_gil(std::move(work)) && !is_ending_thread()) {
    wait_for_the_end();
  }
}

/// Lets other threads run until its end.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;
  ~GilReleased() {
    const AskingForGil asking;
    if (!asking.is_allowed()) {
      wait_for_the_end();
    }
    PyEval_RestoreThread(state_);
  }

 private:
  PyThreadState* state_;
};

}  // namespace tessera::python
