#include "faults.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <limits>
#include <sstream>

namespace tessera::stand_in {
namespace {

std::uint64_t to_number(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

[[noreturn]] void die() {
  kill(getpid(), SIGKILL);
  for (;;) {
    pause();
  }
}

}  // namespace

bool Faults::Rule::matches(Function function, std::uint64_t number, std::uint64_t overall_number) const {
  if (name == "*") {
    return overall_number >= first && overall_number <= last;
  }
  return number >= first && number <= last && name == kFunctionNames[static_cast<std::size_t>(function)];
}

std::vector<Faults::Rule> Faults::parse(const std::string& specification, bool is_crash) {
  std::vector<Rule> rules;
  std::istringstream items(specification);
  for (std::string item; std::getline(items, item, ',');) {
    std::istringstream parts(item);
    Rule rule;
    std::string which;
    std::string what;
    std::getline(parts, rule.name, ':');
    std::getline(parts, which, ':');
    std::getline(parts, what, ':');
    bool is_open = which == "*" || (!which.empty() && which.back() == '+');
    rule.first = which == "*" ? 1 : to_number(which);
    rule.last = is_open ? std::numeric_limits<std::uint64_t>::max() : rule.first;
    rule.is_after = what == "after";
    if (!is_crash) {
      rule.outcome = {static_cast<Result>(to_number(what)), !what.empty() && what.back() == '!'};
    }
    rules.push_back(rule);
  }
  return rules;
}

void Faults::set_faults(const std::string& specification) {
  std::vector<Rule> rules = parse(specification, false);
  MutexLock lock(mutex_);
  faults_ = std::move(rules);
}

void Faults::set_crash(const std::string& specification) {
  std::vector<Rule> rules = parse(specification, true);
  MutexLock lock(mutex_);
  crashes_ = std::move(rules);
}

std::optional<Faults::Outcome> Faults::begin(Function function, std::uint64_t number, std::uint64_t overall_number) {
  MutexLock lock(mutex_);
  for (const Rule& rule : crashes_) {
    if (!rule.is_after && rule.matches(function, number, overall_number)) {
      die();
    }
  }
  for (const Rule& rule : faults_) {
    if (rule.matches(function, number, overall_number)) {
      return rule.outcome;
    }
  }
  return std::nullopt;
}

void Faults::end(Function function, std::uint64_t number, std::uint64_t overall_number) {
  MutexLock lock(mutex_);
  for (const Rule& rule : crashes_) {
    if (rule.is_after && rule.matches(function, number, overall_number)) {
      die();
    }
  }
}

}  // namespace tessera::stand_in
