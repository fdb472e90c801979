// A terminal whose whole screen is written over again and again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera {

/// A text cut to that many lines and columns, each line with what clears the rest of the one below it, behind what goes
/// to the upper left corner.
[[nodiscard]] std::string frame_of(std::string_view text, std::size_t lines, std::size_t columns);

/// Takes the other screen of the terminal behind standard output, and gives back what was there at its end. One at a
/// time.
class TerminalScreen {
 public:
  TerminalScreen();
  TerminalScreen(const TerminalScreen&) = delete;
  TerminalScreen& operator=(const TerminalScreen&) = delete;
  ~TerminalScreen();

  /// Shows a text in place of the last one, cut to the size that the terminal has now.
  void show(std::string_view text);
};

}  // namespace tessera
