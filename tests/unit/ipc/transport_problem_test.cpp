#include "tessera/ipc/transport_problem.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tessera {
namespace {

constexpr int kReasons = static_cast<int>(TransportReason::kCudaFailed) + 1;

TEST(TransportProblemTest, HasANameAndASentenceForEachReason) {
  std::set<std::string> names;
  std::set<std::string> sentences;
  for (int i = 0; i != kReasons; ++i) {
    const auto reason = static_cast<TransportReason>(i);
    const TransportProblem problem = make_problem(reason);
    EXPECT_EQ(problem.reason, reason);
    EXPECT_GT(problem.sentence.size(), 20U);
    EXPECT_NE(problem.sentence.back(), '.');
    names.emplace(name_of(reason));
    sentences.insert(problem.sentence);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kReasons));
  EXPECT_EQ(sentences.size(), static_cast<std::size_t>(kReasons));
}

TEST(TransportProblemTest, BeginsWithTheDetail) {
  const TransportProblem problem = make_problem(TransportReason::kMapFailed, "cuIpcOpenMemHandle failed");
  EXPECT_EQ(problem.sentence, "cuIpcOpenMemHandle failed; " + make_problem(TransportReason::kMapFailed).sentence);
}

}  // namespace
}  // namespace tessera
