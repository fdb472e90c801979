// Makes one JSON file of what the parts of a run left, and prints the table. Usage: kit_report FOLDER RESULTS.json
// The folder has, for each part that `order` names: NAME.part (exit code, microseconds, limit in seconds), NAME.log,
// and NAME.rows (lines of JSON) or NAME.gtest.json; and machine.json.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kTimedOut = 124;  // of timeout(1)
constexpr int kKilled = 137;
constexpr int kSkipped = 77;

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

Json parsed(const std::string& text) {
  return Json::parse(text, nullptr, false);
}

Json row(const std::string& state, const std::string& name, const std::string& text) {
  return {{"state", state}, {"name", name}, {"text", text}};
}

// What GoogleTest and the suite of the driver's rules leave: a report, and answers in the log.
Json rows_of_tests(const fs::path& report, const fs::path& log) {
  Json rows = Json::array();
  std::ifstream stream(report);
  const Json tests = Json::parse(stream, nullptr, false);
  if (!tests.is_discarded()) {
    for (const Json& suite : tests.value("testsuites", Json::array())) {
      for (const Json& test : suite.value("testsuite", Json::array())) {
        const std::string name = suite.value("name", "") + "." + test.value("name", "");
        if (test.contains("failures")) {
          rows.push_back(row("failed", name, test["failures"][0].value("failure", "")));
        } else {
          rows.push_back(row(test.value("result", "") == "SKIPPED" ? "skipped" : "passed", name, ""));
        }
      }
    }
  }
  for (const std::string& line : lines_of(log)) {
    if (line.starts_with("ANSWER ")) {
      const std::size_t colon = line.find(": ");
      rows.push_back(
          row("answer", line.substr(7, colon - 7), colon == std::string::npos ? "" : line.substr(colon + 2)));
    } else if (line.starts_with("SKIPPED: ")) {
      rows.push_back(row("skipped", "all", line.substr(9)));
    }
  }
  return rows;
}

Json rows_of(const fs::path& folder, const std::string& name) {
  if (fs::exists(folder / (name + ".gtest.json"))) {
    return rows_of_tests(folder / (name + ".gtest.json"), folder / (name + ".log"));
  }
  Json rows = Json::array();
  for (const std::string& line : lines_of(folder / (name + ".rows"))) {
    if (Json one = parsed(line); !one.is_discarded()) {
      rows.push_back(std::move(one));
    }
  }
  return rows.empty() ? rows_of_tests("", folder / (name + ".log")) : rows;
}

std::size_t count(const Json& rows, const char* state) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [state](const Json& one) { return one.value("state", "") == state; }));
}

Json part_of(const fs::path& file) {
  const std::string name = file.stem();
  std::ifstream stream(file);
  int exit_code = 1;
  double microseconds = 0.0;
  int limit_seconds = 0;
  stream >> exit_code >> microseconds >> limit_seconds;
  Json rows = rows_of(file.parent_path(), name);
  if (exit_code == kTimedOut || exit_code == kKilled) {
    rows.push_back(row("failed", "in time", "it was stopped after " + std::to_string(limit_seconds) + " s"));
  } else if (exit_code != 0 && exit_code != kSkipped && count(rows, "failed") == 0) {
    const std::vector<std::string> log = lines_of(fs::path(file).replace_extension("log"));
    rows.push_back(row("failed", "as a whole",
                       "it ended with " + std::to_string(exit_code) + (log.empty() ? "" : ": " + log.back())));
  } else if (rows.empty()) {
    rows.push_back(row("failed", "as a whole", "nothing ran"));
  }
  return {{"name", name},
          {"seconds", microseconds / 1e6},
          {"passed", count(rows, "passed")},
          {"failed", count(rows, "failed")},
          {"skipped", count(rows, "skipped")},
          {"answers", count(rows, "answer")},
          {"rows", std::move(rows)}};
}

void print(const Json& part) {
  std::cout << '\n' << std::left << std::setw(20) << part["name"].get<std::string>() << std::right;
  for (const char* state : {"passed", "failed", "skipped", "answers"}) {
    std::cout << std::setw(5) << part[state].get<int>() << ' ' << state;
  }
  std::cout << std::fixed << std::setprecision(1) << std::setw(7) << part["seconds"].get<double>() << " s\n";
  for (const Json& one : part["rows"]) {
    if (one["state"] != "passed") {
      std::cout << "  " << one["state"].get<std::string>() << "  " << one["name"].get<std::string>() << ": "
                << one["text"].get<std::string>() << '\n';
    }
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 3) {
    std::cerr << "usage: kit_report FOLDER RESULTS.json\n";
    return 2;
  }
  const fs::path folder = arguments[1];
  std::ifstream machine(folder / "machine.json");
  Json results{{"machine", Json::parse(machine, nullptr, false)}, {"parts", Json::array()}};
  if (results["machine"].is_discarded()) {
    results["machine"] = nullptr;
  }
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;
  std::ifstream order(folder / "order");
  for (std::string name; std::getline(order, name);) {
    Json part = part_of(folder / (name + ".part"));
    print(part);
    passed += part["passed"].get<std::size_t>();
    failed += part["failed"].get<std::size_t>();
    skipped += part["skipped"].get<std::size_t>();
    results["parts"].push_back(std::move(part));
  }
  results["passed"] = passed;
  results["failed"] = failed;
  results["skipped"] = skipped;
  std::ofstream(arguments[2]) << results.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
  std::cout << '\n' << passed << " passed, " << failed << " failed, " << skipped << " skipped\n";
  return failed == 0 && passed > 0 ? 0 : 1;
}
