// The payload of a command line.
#pragma once

#include <string>

namespace tessera {

/// The JSON text that a word stands for: itself, or what the file holds if it is @FILE. Throws CommandError if the file
/// cannot be read, or if the word is the name of a file.
[[nodiscard]] std::string text_of_payload(const std::string& word);

}  // namespace tessera
