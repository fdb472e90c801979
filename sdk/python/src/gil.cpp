#include "gil.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace tessera::python {
namespace {

// A thread counts itself, then looks whether the end has begun; the end is noted first, then awaits the count. In this
// order on both sides, and sequentially consistent, one of the two sees the other.
std::atomic<int> asking{0};
std::atomic<bool> is_ending{false};
std::atomic<pthread_t> ending_thread{};

void begin_the_end() {
  ending_thread = pthread_self();
  is_ending = true;
  // Those on their way get the lock now.
  PyThreadState* const state = PyEval_SaveThread();
  while (asking > 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  PyEval_RestoreThread(state);
}

// Only the thread that forks goes on in the child.
void start_anew_in_the_child() {
  asking = 0;
}

}  // namespace

AskingForGil::AskingForGil() {
  ++asking;
  is_allowed_ = !is_ending || is_ending_thread();
  if (!is_allowed_) {
    --asking;
  }
}

AskingForGil::~AskingForGil() {
  if (is_allowed_) {
    --asking;
  }
}

bool is_ending_thread() {
  return is_ending && pthread_equal(ending_thread, pthread_self()) != 0;
}

void watch_for_the_end(nanobind::module_& module) {
  module.def("_begin_the_end", begin_the_end);
  nanobind::module_::import_("atexit").attr("register")(module.attr("_begin_the_end"));
  pthread_atfork(nullptr, nullptr, start_anew_in_the_child);
}

}  // namespace tessera::python
