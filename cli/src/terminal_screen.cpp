#include "terminal_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "tessera/base/file.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

constexpr std::string_view kTake = "\x1b[?1049h\x1b[?25l\x1b[2J";  // other screen, no cursor, cleared
constexpr std::string_view kGiveBack = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";

// Nobody can be told that a terminal cannot be written to.
void put(std::string_view text) {
  static_cast<void>(write_all(STDOUT_FILENO, std::as_bytes(std::span(text))));
}

}  // namespace

std::string frame_of(std::string_view text, std::size_t lines, std::size_t columns) {
  std::string frame(kHome);
  for (std::size_t line = 0; line < lines && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    frame += line == 0 ? "" : "\n";
    frame += cut_utf8(text.substr(0, end), columns);
    frame += kClearLine;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return frame.append(kClearBelow);
}

TerminalScreen::TerminalScreen() {
  put(kTake);
}

TerminalScreen::~TerminalScreen() {
  put(kGiveBack);
}

void TerminalScreen::show(std::string_view text) {
  constexpr std::size_t kLines = 24;
  constexpr std::size_t kColumns = 80;
  ::winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0;
  put(is_known ? frame_of(text, size.ws_row, size.ws_col) : frame_of(text, kLines, kColumns));
}

}  // namespace tessera
