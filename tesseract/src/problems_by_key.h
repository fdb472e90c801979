// Problems of the values of an object whose keys may come twice: the last value of a key is the one that counts.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "tessera/tesseract/problem.h"

namespace tessera {

/// One thread at a time.
class ProblemsByKey {
 public:
  /// Replaces what is known of a key.
  void set(const std::string& key, std::vector<Problem> problems);
  /// Adds all, in the order in which their keys first had any, to `problems`; empties this.
  void take_into(std::vector<Problem>& problems);

 private:
  std::unordered_map<std::string, std::size_t> positions_;
  std::vector<std::vector<Problem>> kept_;
  // There may be more faulty keys than anybody reads of; of those beyond, only the first is kept, for the case that all
  // others are replaced by good ones.
  std::vector<Problem> beyond_;
};

}  // namespace tessera
