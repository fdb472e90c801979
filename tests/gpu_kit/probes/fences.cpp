// P9: how long it takes until another process sees that work is done.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

#include "probes/probe.h"

namespace tessera::gpu_kit {
namespace {

constexpr unsigned kInterprocessEvent = 4 | 2;  // CU_EVENT_INTERPROCESS, CU_EVENT_DISABLE_TIMING
constexpr unsigned kNonBlocking = 1;
constexpr int kTurns = 100;
constexpr unsigned kWaitUntilAtLeast = 0;  // CU_STREAM_WAIT_VALUE_GEQ

struct EventExport {
  void* event = nullptr;
  Handle handle{};
};

EventExport make_event() {
  EventExport made;
  need(driver().cuEventCreate(&made.event, kInterprocessEvent), "cuEventCreate");
  need(driver().cuIpcGetEventHandle(&made.handle, made.event), "cuIpcGetEventHandle");
  return made;
}

// The calls by which streams of two processes wait for each other.
struct WordCalls {
  using Call = Code (*)(void* stream, Address address, std::uint64_t value, unsigned flags);
  Call write = nullptr;
  Call wait = nullptr;

  static WordCalls find() {
    const auto call = [](const char* newer, const char* older) {
      void* const found = find_call(newer);
      return reinterpret_cast<Call>(found == nullptr ? find_call(older) : found);
    };
    return {call("cuStreamWriteValue64_v2", "cuStreamWriteValue64"),
            call("cuStreamWaitValue64_v2", "cuStreamWaitValue64")};
  }
  [[nodiscard]] bool are_there() const { return write != nullptr && wait != nullptr; }
};

std::string hex(const Handle& handle) {
  std::string text;
  for (const unsigned char byte : handle.bytes) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    text += digits;
  }
  return text;
}

Handle unhex(const std::string& text) {
  Handle handle{};
  for (std::size_t i = 0; i < handle.bytes.size(); ++i) {
    handle.bytes[i] = static_cast<unsigned char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  }
  return handle;
}

void* make_stream() {
  void* stream = nullptr;
  need(driver().cuStreamCreate(&stream, kNonBlocking), "cuStreamCreate");
  return stream;
}

}  // namespace

void probe_event_times(Rows& rows) {
  enter_gpu();
  const Peer peer;
  start(peer);
  const EventExport made = make_event();
  const Reply opened = peer.ask({.order = Order::kOpenEvent, .bytes = made.handle.bytes});
  need(opened.code, "cuIpcOpenEventHandle");
  const PeerExport target = export_from(peer, kPage, 1);
  std::vector<double> bare;
  std::vector<double> with_event;
  for (int turn = 0; turn < kTurns; ++turn) {
    bare.push_back(time_us([&] { static_cast<void>(peer.ask({.order = Order::kPid})); }));
    with_event.push_back(time_us([&] {
      need(driver().cuEventRecord(made.event, nullptr), "cuEventRecord");
      need(peer.ask({.order = Order::kCopyAfterEvent,
                     .a = opened.value,
                     .b = target.address,
                     .c = target.address + 64,
                     .d = 64})
               .code,
           "cuStreamWaitEvent and a copy");
    }));
  }
  const double bare_us = median(bare);
  const double event_us = median(with_event);
  rows.answer("P9 record here, a copy there that waits for it",
              us_text(event_us - bare_us) + " beyond the message, which takes " + us_text(bare_us),
              {{"event_us", event_us - bare_us}, {"message_us", bare_us}});
}

void probe_event_without_shm(Rows& rows) {
  const Peer peer;  // has the machine's /dev/shm
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", "/dev/shm", "tmpfs", 0, nullptr) != 0) {
    rows.skipped("P9 event between processes with a /dev/shm each", "this machine lets no mount namespace be made");
    return;
  }
  enter_gpu();
  start(peer);
  const EventExport made = make_event();
  rows.answer("P9 event between processes with a /dev/shm each",
              code_text(peer.ask({.order = Order::kOpenEvent, .bytes = made.handle.bytes}).code));
  const OwnMemory memory(kPage);
  Handle handle;
  need(driver().cuIpcGetMemHandle(&handle, memory.address()), "cuIpcGetMemHandle");
  rows.answer("P9 memory between processes with a /dev/shm each",
              code_text(peer.ask({.order = Order::kOpen, .bytes = handle.bytes}).code));
}

void probe_word_times(Rows& rows) {
  enter_gpu();
  const WordCalls calls = WordCalls::find();
  if (!calls.are_there()) {
    rows.skipped("P9 words in imported memory", "the driver has no cuStreamWriteValue64");
    return;
  }
  const OwnMemory words(kPage);
  need(driver().cuMemsetD8_v2(words.address(), 0, kPage), "cuMemsetD8");
  need(driver().cuCtxSynchronize(), "cuCtxSynchronize");
  Handle handle;
  need(driver().cuIpcGetMemHandle(&handle, words.address()), "cuIpcGetMemHandle");
  int ready[2];
  if (::pipe2(ready, 0) != 0) {
    throw std::runtime_error("no pipe");
  }
  const std::string text = hex(handle);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ready[1], STDOUT_FILENO);
    ::execl("/proc/self/exe", "kit_probes", "--answer-words", text.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ready[1]);
  char byte = 0;
  const bool is_ready = ::read(ready[0], &byte, 1) == 1;
  ::close(ready[0]);
  double all_us = 0.0;
  if (is_ready) {
    void* const stream = make_stream();
    all_us = time_us([&] {
      for (std::uint64_t turn = 1; turn <= kTurns; ++turn) {
        need(calls.write(stream, words.address(), turn, 0), "cuStreamWriteValue64");
        need(calls.wait(stream, words.address() + 64, turn, kWaitUntilAtLeast), "cuStreamWaitValue64");
      }
      need(driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
    });
  }
  ::waitpid(child, nullptr, 0);
  if (!is_ready) {
    throw std::runtime_error("the other process does not answer");
  }
  rows.answer("P9 words in imported memory, there and back", us_text(all_us / kTurns),
              {{"round_trip_us", all_us / kTurns}});
}

int answer_words(const std::string& handle) {
  enter_gpu();
  const WordCalls calls = WordCalls::find();
  Address words = 0;
  need(driver().cuIpcOpenMemHandle_v2(&words, unhex(handle), 1), "cuIpcOpenMemHandle");
  void* const stream = make_stream();
  for (std::uint64_t turn = 1; turn <= kTurns; ++turn) {
    need(calls.wait(stream, words, turn, kWaitUntilAtLeast), "cuStreamWaitValue64");
    need(calls.write(stream, words + 64, turn, 0), "cuStreamWriteValue64");
  }
  if (::write(STDOUT_FILENO, "r", 1) != 1) {
    return 1;
  }
  need(driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
  return 0;
}

}  // namespace tessera::gpu_kit
