// Runs every target over its seeds and over what is kept in corpus/.
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "seeds.h"
#include "targets.h"
#include "tessera/base/file.h"

namespace tessera::fuzzing {
namespace {

const std::filesystem::path kCorpus = std::filesystem::path(TESSERA_TESTS_DIR) / "fuzz/corpus";

// The test says which input it was; a sanitizer's report stands behind the last name on standard error.
void replay(const Target& target, const std::string& name, std::string_view input) {
  try {
    target.run(input);
  } catch (const std::exception& error) {
    ADD_FAILURE() << target.name << ", " << name << ": " << error.what();
  }
}

class FuzzReplayTest : public ::testing::TestWithParam<Target> {};

TEST_P(FuzzReplayTest, NothingBreaks) {
  const Target& target = GetParam();
  replay(target, "no bytes", "");
  const std::vector<std::string> seeds = seeds_of(target.name);
  EXPECT_FALSE(seeds.empty()) << target.name << " has no seeds";
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    replay(target, "seed " + std::to_string(i), seeds[i]);
  }
  std::size_t kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus / target.name)) {
    const Result<std::string> input = read_file(entry.path(), 1 << 20);
    ASSERT_TRUE(input.has_value()) << entry.path();
    replay(target, entry.path().filename().string(), *input);
    ++kept;
  }
  EXPECT_GT(kept, 0U) << "nothing is kept for " << target.name;
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplayTest, ::testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& target) { return std::string(target.param.name); });

TEST(FuzzTargetsTest, EachHasItsSourceAndItsCorpusAndNothingElseHas) {
  std::set<std::string> names;
  for (const Target& target : all_targets()) {
    names.emplace(target.name);
  }
  std::set<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus)) {
    folders.insert(entry.path().filename().string());
  }
  std::set<std::string> sources;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus.parent_path() / "targets")) {
    sources.insert(entry.path().stem().string());
  }
  EXPECT_EQ(folders, names);
  EXPECT_EQ(sources, names);
}

TEST(FuzzTargetsTest, TheCorpusStaysSmall) {
  std::uintmax_t total = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kCorpus)) {
    total += entry.is_regular_file() ? entry.file_size() : 0;
  }
  EXPECT_LT(total, 1U << 20U);
}

}  // namespace
}  // namespace tessera::fuzzing
