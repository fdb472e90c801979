#include "closest_word.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tessera {
namespace {

// Levenshtein's distance: characters to insert, remove or replace.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> find_closest_word(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kLongestWord = 100;
  if (word.size() > kLongestWord) {
    return std::nullopt;
  }
  std::optional<std::string> closest;
  std::size_t fewest = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (const std::size_t errors = distance(word, candidate); errors < fewest && errors < candidate.size()) {
      fewest = errors;
      closest = candidate;
    }
  }
  return closest;
}

}  // namespace tessera
