// What is left behind when there is no host memory in the middle of an export or import: nothing.
#include <gtest/gtest.h>

#include <cstddef>
#include <new>
#include <string>

#include "../export_registry/counting_new.h"
#include "ipc_test.h"

namespace tessera {
namespace {

// More than any of these calls takes.
constexpr std::size_t kMostAllocations = 200;

template <class Call>
void expect_call_works_in_the_end(const Call& call) {
  bool has_worked = false;
  for (std::size_t count = 1; count < kMostAllocations; ++count) {
    try {
      testing::fail_new_after(count);
      call();
      has_worked = true;
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): what is asked for
    }
    testing::fail_new_after(0);
  }
  EXPECT_TRUE(has_worked);
}

using NoMemoryTest = TwoProcessTest;

TEST_F(NoMemoryTest, LosesNoMappingThatItOpens) {
  const std::string reference = ask("export 1000 7");
  expect_call_works_in_the_end([&] { static_cast<void>(import(reference, 1000)); });
  expect_imports(reference, 1000, 7);  // nobody waits for what was not opened
  EXPECT_EQ(system().pool_stats()[0].used_bytes, 0U);
  clock().advance(std::chrono::hours(1));
  system().trim();
  EXPECT_EQ(system().counters().mapped_bytes, 0U);
}

TEST_F(NoMemoryTest, LosesNoMemoryThatItExports) {
  const Array array = on_gpu(1000);
  const std::uint64_t used_bytes = system().pool_stats()[0].used_bytes;
  expect_call_works_in_the_end([&] { static_cast<void>(transport().export_array(array)); });
  expect_call_works_in_the_end([&] { static_cast<void>(system().allocate(gpu()->uuid(), DType::kUInt8, {5000000})); });
  EXPECT_EQ(system().pool_stats()[0].used_bytes, used_bytes);
  // Nothing is exported any more.
  const ExportedArray exported = this->exported(array);
  std::string reference = exported.reference;
  EXPECT_TRUE(import(reference, 1000).has_value());
}

}  // namespace
}  // namespace tessera
