#include "problems_by_key.h"

#include <utility>

#include "value_reader.h"

namespace tessera {

void ProblemsByKey::set(const std::string& key, std::vector<Problem> problems) {
  if (problems.empty() && positions_.empty()) {
    return;
  }
  if (const auto known = positions_.find(key); known != positions_.end()) {
    kept_[known->second] = std::move(problems);
  } else if (!problems.empty() && kept_.size() < kMaxProblems) {
    positions_.emplace(key, kept_.size());
    kept_.push_back(std::move(problems));
  } else if (!problems.empty() && beyond_.empty()) {
    beyond_ = std::move(problems);
  }
}

void ProblemsByKey::take_into(std::vector<Problem>& problems) {
  for (std::vector<Problem>& some : kept_) {
    add_problems(problems, std::move(some));
  }
  add_problems(problems, std::move(beyond_));
  positions_.clear();
  kept_.clear();
  beyond_.clear();
}

}  // namespace tessera
