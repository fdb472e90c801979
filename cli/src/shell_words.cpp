#include "shell_words.h"

#include <utility>

namespace tessera {

std::optional<std::vector<std::string>> split_shell_words(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r";
  constexpr std::string_view kEscapedInQuotes = "\"\\$`";
  std::vector<std::string> words;
  std::optional<std::string> word;  // that is being read; one that is quoted may be empty
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\0' && kBlanks.find(c) != std::string_view::npos) {
      if (word) {
        words.push_back(std::move(*word));
        word.reset();
      }
      continue;
    }
    if (!word) {
      word.emplace();
    }
    const bool has_next = i + 1 < text.size();
    if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    } else if (c == '\\' && has_next &&
               (quote == '\0' || (quote == '"' && kEscapedInQuotes.find(text[i + 1]) != std::string_view::npos))) {
      *word += text[++i];
    } else {
      *word += c;
    }
  }
  if (quote != '\0') {
    return std::nullopt;
  }
  if (word) {
    words.push_back(*std::move(word));
  }
  return words;
}

}  // namespace tessera
