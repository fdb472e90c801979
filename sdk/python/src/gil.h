// The lock of Python's interpreter (the GIL), held and released in a scope.
//
// While the interpreter ends, a thread that asks for the lock is ended by it, by unwinding its stack up to Python 3.13.
// That would end the whole program, since destructors may not be left so. Here such a thread waits for the end of the
// process instead, as it does from Python 3.14 on.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace tessera::python {

/// Runs what may wait for the lock: one of Python's functions, or code of the user's. Keeps a thread that was ended
/// there.
template <class Work>
auto keep_from_unwinding(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const abi::__forced_unwind&) {
    while (true) {
      pause();
    }
  }
}

/// Holds the lock, on whatever thread. Once the interpreter is gone there is nothing to hold: is_held() is false.
class GilHeld {
 public:
  GilHeld() {
    if (is_held_) {
      state_ = keep_from_unwinding([] { return PyGILState_Ensure(); });
    }
  }
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;
  ~GilHeld() {
    if (is_held_) {
      PyGILState_Release(state_);
    }
  }
  [[nodiscard]] bool is_held() const { return is_held_; }

 private:
  bool is_held_ = Py_IsInitialized() != 0;
  PyGILState_STATE state_{};
};

/// Lets other threads run until its end.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;
  ~GilReleased() {
    keep_from_unwinding([this] { PyEval_RestoreThread(state_); });
  }

 private:
  PyThreadState* state_;
};

}  // namespace tessera::python
