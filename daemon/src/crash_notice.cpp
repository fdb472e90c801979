#include "tessera/daemon/crash_notice.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <memory>
#include <span>

#include "captured_output.h"
#include "tessera/base/patient_write.h"

namespace tessera {
namespace {

constexpr std::size_t kSlots = 64;
constexpr std::size_t kNoSlot = kSlots;

/// Shared by all calls and the handler. The text is only read while it is complete; at worst, when a call ends at that
/// moment, a line is a mixture of two.
struct Slot {
  enum State : int { kFree, kFilling, kComplete };
  std::atomic<int> state = kFree;
  std::array<char, 512> text{};  // ends with a NUL
};
static_assert(std::atomic<int>::is_always_lock_free);

constinit std::array<Slot, kSlots> slots;
constinit std::atomic<bool> is_told = false;

std::size_t claim_slot() {
  for (std::size_t i = 0; i < kSlots; ++i) {
    int expected = Slot::kFree;
    if (slots[i].state.compare_exchange_strong(expected, Slot::kFilling)) {
      return i;
    }
  }
  return kNoSlot;
}

/// A part of a slot's text or of a line: what does not fit is left out, and no byte can end a line or a JSON text.
class Words {
 public:
  explicit Words(std::span<char> space) : space_(space.first(space.size() - 1)) {}

  Words& add(std::string_view text) {
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      put(byte < 0x20U || byte == 0x7FU || c == '"' || c == '\\' ? '?' : c);
    }
    return *this;
  }
  Words& add_raw(std::string_view text) {
    std::ranges::for_each(text, [this](char c) { put(c); });
    return *this;
  }
  [[nodiscard]] std::string_view text() const { return {space_.data(), size_}; }
  /// Requires: nothing is added afterwards.
  void end() { space_.data()[size_] = '\0'; }

 private:
  void put(char c) {
    if (size_ < space_.size()) {
      space_[size_++] = c;
    }
  }

  std::span<char> space_;
  std::size_t size_ = 0;
};

// An endpoint that recurses without end leaves no stack to handle the signal on.
void give_signals_a_stack() {
  constexpr std::size_t kStackBytes = 65536;
  struct SignalStack {
    SignalStack() {
      stack_t before{};
      if (::sigaltstack(nullptr, &before) != 0 || (before.ss_flags & SS_DISABLE) == 0) {
        return;  // a sanitizer has given one
      }
      memory = std::make_unique<char[]>(kStackBytes);  // NOLINT(modernize-avoid-c-arrays): not cleared, never read
      const stack_t stack{.ss_sp = memory.get(), .ss_flags = 0, .ss_size = kStackBytes};
      ::sigaltstack(&stack, nullptr);
    }
    SignalStack(const SignalStack&) = delete;
    SignalStack& operator=(const SignalStack&) = delete;
    ~SignalStack() {
      if (memory) {
        const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
        ::sigaltstack(&none, nullptr);
      }
    }
    std::unique_ptr<char[]> memory;  // NOLINT(modernize-avoid-c-arrays)
  };
  thread_local const SignalStack kStack;
  (void)kStack;
}

/// Gives up where nobody can be told: the process is to end, not to wait for a reader that sleeps.
void write_text(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write_patiently(descriptor, text, std::chrono::seconds(1));
    if (count <= 0) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void write_line(int descriptor, std::string_view cause, std::string_view note, bool as_json) {
  std::array<char, 1024> space{};
  Words line(space);
  if (as_json) {
    line.add_raw(R"({"level":"error","message":"process ended during a call","cause":")").add(cause);
    line.add_raw(R"(","during":")").add(note).add_raw("\"}\n");
  } else {
    line.add_raw("error   process ended during a call  cause=").add(cause);
    line.add_raw(" ").add(note).add_raw("\n");
  }
  write_text(descriptor, line.text());
}

/// Each line as a JSON text; one that is longer than a piece as several.
void write_printed_lines(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const std::string_view printed = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), printed.size() + 1));
    std::array<char, 1024> space{};
    Words line(space);
    line.add_raw(R"({"level":"error","message":"it had printed","text":")").add(printed).add_raw("\"}\n");
    write_text(descriptor, line.text());
  }
}

void write_kept_aside(int source, int descriptor, bool as_json) {
  std::array<char, 900> piece{};
  off_t offset = 0;
  for (;;) {
    const ssize_t count = ::pread(source, piece.data(), piece.size(), offset);
    if (count <= 0) {
      break;
    }
    const std::string_view text(piece.data(), static_cast<std::size_t>(count));
    if (as_json) {
      write_printed_lines(descriptor, text);
    } else {
      write_text(descriptor, offset == 0 ? "It had printed:\n" : "");
      write_text(descriptor, text);
    }
    offset += count;
  }
}

/// Another thread does the copying; it gets a moment for what is on its way.
void wait_for_copier(int pipe) {
  constexpr timespec kMoment{.tv_sec = 0, .tv_nsec = 5'000'000};
  constexpr int kMoments = 40;
  for (int i = 0; i < kMoments; ++i) {
    pollfd watched{.fd = pipe, .events = POLLIN, .revents = 0};
    const bool is_empty = ::poll(&watched, 1, 0) == 0;
    ::nanosleep(&kMoment, nullptr);
    if (is_empty) {
      return;
    }
  }
}

}  // namespace

CrashNote::CrashNote(const Call& call)
    : CrashNote({"tesseract=", call.tesseract, " endpoint=", call.endpoint, call.id.empty() ? "" : " id=", call.id,
                 call.output.empty() ? "" : " run=", call.output,
                 call.run_folder.empty() || call.output.ends_with('/') ? "" : "/", call.run_folder}) {}

CrashNote::CrashNote(std::string_view doing) : CrashNote({doing}) {}

CrashNote::CrashNote(std::initializer_list<std::string_view> parts) : slot_(claim_slot()) {
  if (slot_ != kNoSlot) {
    Words words(slots[slot_].text);
    std::ranges::for_each(parts, [&words](std::string_view part) { words.add(part); });
    words.end();
    slots[slot_].state = Slot::kComplete;
  }
  give_signals_a_stack();
}

CrashNote::~CrashNote() {
  if (slot_ != kNoSlot) {
    slots[slot_].state = Slot::kFree;
  }
}

bool write_crash_notice(int descriptor, std::string_view cause, bool as_json) noexcept {
  const bool has_note =
      std::ranges::any_of(slots, [](const Slot& slot) { return slot.state.load() == Slot::kComplete; });
  if (!has_note || is_told.exchange(true)) {
    return has_note;
  }
  for (const Slot& slot : slots) {
    if (slot.state.load() == Slot::kComplete) {
      write_line(descriptor, cause, slot.text.data(), as_json);
    }
  }
  if (const int kept_aside = captured_output().kept_aside; kept_aside >= 0) {
    write_kept_aside(kept_aside, descriptor, as_json);
  }
  if (const int pipe = captured_output().pipe; pipe >= 0) {
    wait_for_copier(pipe);
  }
  return true;
}

}  // namespace tessera
