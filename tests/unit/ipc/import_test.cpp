// What comes from another process, right and wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

#include "ipc_test.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using ImportTest = TwoProcessTest;

TEST_F(ImportTest, CopiesWhatAnotherProcessExported) {
  expect_imports(ask("export 100000 3"), 100000, 3);
  EXPECT_EQ(system().counters().imports_copied, 1U);
}

TEST_F(ImportTest, ReadsAtTheOffset) {
  expect_imports(ask("export-part 5000 512 4"), 5000, 4);
  expect_imports(ask("export-part 5000 3 5"), 5000, 5);
}

TEST_F(ImportTest, ReadsWhatWasStaged) {
  expect_imports(ask("export-managed 5000 6"), 5000, 6);
}

TEST_F(ImportTest, IsReadByTheOther) {
  const Array array = on_gpu(5000, 7);
  const ExportedArray exported = this->exported(array);
  EXPECT_EQ(ask("import 5000 " + exported.reference), "ok 7");
}

TEST_F(ImportTest, KeepsTheDtypeAndTheShape) {
  const ImportedArray imported =
      transport().import_array(ask("export 96 1"), DType::kFloat32, {2, 3, 4}, Borrow::kNo).value();
  EXPECT_EQ(imported.array.dtype(), DType::kFloat32);
  EXPECT_EQ(imported.array.shape(), (Shape{2, 3, 4}));
}

TEST_F(ImportTest, HasACopyThatOutlivesTheExport) {
  const ImportedArray imported = import(ask("export 5000 3"), 5000).value();
  EXPECT_EQ(ask("free"), "freed");
  agent().kill();
  expect_pattern(imported.array, 3);
}

TEST_F(ImportTest, BorrowsTheMemoryItself) {
  const std::string reference = ask("export 5000 3");
  const ImportedArray imported = import(reference, 5000, Borrow::kYes).value();
  EXPECT_EQ(imported.path, ImportedArray::Path::kBorrowed);
  expect_pattern(imported.array, 3);
  EXPECT_EQ(stand_in().counts().live_allocations, 0U);
  EXPECT_EQ(stand_in().counts().live_mappings, 1U);
}

TEST_F(ImportTest, ReadsWhatItBorrowedAfterTheExporterWasKilled) {
  const ImportedArray imported = import(ask("export 5000 3"), 5000, Borrow::kYes).value();
  agent().kill();
  expect_pattern(imported.array, 3);
}

TEST_F(ImportTest, ExportsWhatItBorrowedAsACopy) {
  const ImportedArray imported = import(ask("export 5000 3"), 5000, Borrow::kYes).value();
  const ExportedArray again = exported(imported.array);
  EXPECT_TRUE(again.is_staged);
  EXPECT_EQ(ask("import 5000 " + again.reference), "ok 3");
}

TEST_F(ImportTest, OpensAHandleOnce) {
  const std::string reference = ask("export 5000 3");
  const std::int64_t before = opens();
  for (int i = 0; i != 5; ++i) {
    expect_imports(reference, 5000, 3);
  }
  EXPECT_EQ(opens(), before + 1);
  EXPECT_EQ(system().counters().handles_opened, 1U);
  EXPECT_EQ(system().counters().mapping_hits, 4U);
  EXPECT_EQ(system().counters().mapped_bytes, DevicePool::kGranularityBytes);
}

TEST_F(ImportTest, OpensAHandleOnceForManyThreads) {
  const std::string reference = ask("export 5000 3");
  const std::int64_t before = opens();
  std::vector<std::thread> threads;
  for (int i = 0; i != 8; ++i) {
    threads.emplace_back([this, &reference] {
      for (int round = 0; round != 20; ++round) {
        expect_imports(reference, 5000, 3);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(opens(), before + 1);
  EXPECT_EQ(system().counters().imports_copied, 160U);
}

TEST_F(ImportTest, TakesNothingNewInASteadyWorkload) {
  std::vector<std::pair<std::string, std::size_t>> references;
  for (const std::size_t size : {1000U, 70000U, 3000000U, 9000000U}) {
    references.emplace_back(ask("export " + std::to_string(size) + " 2"), size);
  }
  const auto round = [this, &references] {
    for (const auto& [reference, size] : references) {
      const ImportedArray imported = import(reference, size).value();
      (void)exported(imported.array);
    }
  };
  round();
  const std::vector<const char*> calls = {"cuMemAlloc_v2", "cuMemFree_v2", "cuIpcGetMemHandle", "cuIpcOpenMemHandle_v2",
                                          "cuIpcCloseMemHandle"};
  std::vector<std::int64_t> before(calls.size());
  const auto count = [this](const char* call) { return stand_in().calls(call); };
  std::ranges::transform(calls, before.begin(), count);
  for (int i = 0; i != 20; ++i) {
    round();
  }
  std::vector<std::int64_t> after(calls.size());
  std::ranges::transform(calls, after.begin(), count);
  EXPECT_EQ(after, before);
}

TEST_F(ImportTest, ClosesWhatWasIdleForLong) {
  (void)import(ask("export 5000 3"), 5000);
  const Result<ImportedArray> held = import(ask("export 5000 4"), 5000, Borrow::kYes);
  clock().advance(std::chrono::seconds(29));
  system().trim();
  EXPECT_EQ(stand_in().counts().live_mappings, 2U);
  clock().advance(std::chrono::seconds(1));
  system().trim();
  // What is used stays.
  EXPECT_EQ(stand_in().counts().live_mappings, 1U);
  EXPECT_EQ(system().counters().handles_closed, 1U);
  expect_pattern(held->array, 4);
}

TEST_F(ImportTest, GivesMemoryBackOfAnExporterThatWasKilled) {
  (void)import(ask("export 5000 3"), 5000);
  agent().kill();
  EXPECT_GT(stand_in().used_bytes(0), 0U);
  clock().advance(std::chrono::seconds(30));
  system().trim();
  EXPECT_EQ(stand_in().used_bytes(0), 0U);
}

TEST_F(ImportTest, DoesNotFindWhatWasFreed) {
  const std::string reference = ask("export 5000 3");
  EXPECT_EQ(ask("free"), "freed");
  const Result<ImportedArray> imported = import(reference, 5000);
  ASSERT_FALSE(imported.has_value());
  EXPECT_THAT(imported.error().message(), StartsWith("cuIpcOpenMemHandle failed: "));
  EXPECT_EQ(transport().explain(imported.error()).reason, TransportReason::kHandleInvalid);
}

TEST_F(ImportTest, DoesNotFindWhatAKilledProcessExported) {
  const std::string reference = ask("export 5000 3");
  agent().kill();
  EXPECT_FALSE(import(reference, 5000).has_value());
  EXPECT_EQ(system().counters().handles_opened, 0U);
}

TEST_F(ImportTest, ClosesAnUnusedMappingThatIsInTheWay) {
  // The exporter has no pool: the second export lies where the first one was.
  (void)import(ask("export 5000 3"), 5000);
  EXPECT_EQ(ask("free"), "freed");
  const std::string second = ask("export 5000 4");
  expect_imports(second, 5000, 4);
  EXPECT_EQ(system().counters().stale_mappings, 1U);
  EXPECT_EQ(stand_in().counts().live_mappings, 1U);
}

TEST_F(ImportTest, NeverClosesAMappingThatIsUsed) {
  const ImportedArray held = import(ask("export 5000 3"), 5000, Borrow::kYes).value();
  EXPECT_EQ(ask("free"), "freed");
  const Result<ImportedArray> second = import(ask("export 5000 4"), 5000);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().native_code(), 208);
  EXPECT_EQ(transport().explain(second.error()).reason, TransportReason::kMapFailed);
  expect_pattern(held.array, 3);
}

TEST_F(ImportTest, LeavesNothingBehindWhenMemoryRunsOut) {
  const std::string reference = ask("export 5000 3");
  stand_in().set_faults("cuMemAlloc_v2:*:2");
  const Result<ImportedArray> imported = import(reference, 5000);
  ASSERT_FALSE(imported.has_value());
  EXPECT_EQ(imported.error().code(), ErrorCode::kOutOfMemory);
  EXPECT_EQ(transport().explain(imported.error()).reason, TransportReason::kOutOfMemory);
  stand_in().set_faults("");
  expect_imports(reference, 5000, 3);
  clock().advance(std::chrono::seconds(30));
  system().trim();
  EXPECT_EQ(stand_in().counts().live_mappings, 0U);
}

TEST_F(ImportTest, TriesAgainAfterAnOpenThatFailed) {
  const std::string reference = ask("export 5000 3");
  stand_in().fail_next("cuIpcOpenMemHandle_v2", 205);
  const Result<ImportedArray> imported = import(reference, 5000);
  ASSERT_FALSE(imported.has_value());
  EXPECT_EQ(transport().explain(imported.error()).reason, TransportReason::kMapFailed);
  expect_imports(reference, 5000, 3);
}

TEST_F(ImportTest, ClosesAMappingWhoseSizeIsUnknown) {
  const std::string reference = ask("export 5000 3");
  stand_in().fail_next("cuMemGetAddressRange_v2", 500);
  EXPECT_FALSE(import(reference, 5000).has_value());
  EXPECT_EQ(stand_in().counts().live_mappings, 0U);
}

// One export of the other process, whose reference is changed before it is read.
class HostileReferenceTest : public TwoProcessTest {
 protected:
  static constexpr std::size_t kSize = 5000;
  static constexpr std::uint64_t kPage = DevicePool::kGranularityBytes;
  static constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

  HostileReferenceTest() : descriptor_(CudaIpcDescriptor::parse(ask("export-part 5000 1000 3")).value()) {}

  void expect_refused(std::uint64_t offset_bytes, std::uint64_t allocation_bytes, std::size_t size_bytes,
                      bool is_opened) {
    CudaIpcDescriptor descriptor = descriptor_;
    descriptor.offset_bytes = offset_bytes;
    descriptor.allocation_bytes = allocation_bytes;
    const std::int64_t before = opens();
    const Result<ImportedArray> imported = import(descriptor.text(), size_bytes);
    ASSERT_FALSE(imported.has_value());
    EXPECT_EQ(imported.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(imported.error().message(), HasSubstr("from offset " + std::to_string(offset_bytes)));
    EXPECT_EQ(opens() != before, is_opened);
    EXPECT_EQ(system().pool_stats()[0].allocations, 0U);
  }

  CudaIpcDescriptor descriptor_;
};

TEST_F(HostileReferenceTest, IsCheckedAgainstItsOwnClaim) {
  expect_refused(1000, 5999, kSize, false);
  expect_refused(1001, 6000, kSize, false);
  expect_refused(6000, 6000, 1, false);
  expect_refused(kLargest, kLargest, 1, false);
  expect_refused(kLargest - 10, kLargest, kSize, false);
}

TEST_F(HostileReferenceTest, IsCheckedAgainstTheMapping) {
  expect_refused(kPage - kSize + 1, kLargest, kSize, true);
}

TEST_F(HostileReferenceTest, IsCheckedAgainstAMappingThatIsOpenAlready) {
  expect_imports(descriptor_.text(), kSize, 3);
  CudaIpcDescriptor descriptor = descriptor_;
  descriptor.allocation_bytes = kLargest;
  for (const std::uint64_t offset : {kPage - kSize + 1, kPage, kLargest - kSize}) {
    descriptor.offset_bytes = offset;
    EXPECT_FALSE(import(descriptor.text(), kSize).has_value());
  }
  descriptor.offset_bytes = 1000;
  expect_imports(descriptor.text(), kSize, 3);
}

TEST_F(HostileReferenceTest, MayNotNameAGpuThatIsNotHere) {
  descriptor_.gpu = Uuid();
  const Result<ImportedArray> imported = import(descriptor_.text(), kSize);
  ASSERT_FALSE(imported.has_value());
  EXPECT_EQ(imported.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(imported.error().message(),
            "The array lives on the GPU with UUID 00000000-0000-0000-0000-000000000000, which this process cannot see. "
            "Give both processes access to that GPU (e.g. via --gpus or CUDA_VISIBLE_DEVICES).");
  EXPECT_EQ(transport().explain(imported.error()).reason, TransportReason::kOtherGpu);
}

TEST_F(HostileReferenceTest, NeedsAHandleForElements) {
  descriptor_.handle.reset();
  const std::int64_t before = opens();
  const Result<ImportedArray> imported =
      transport().import_array(descriptor_.text(), DType::kFloat32, {3, 4}, Borrow::kNo);
  ASSERT_FALSE(imported.has_value());
  EXPECT_EQ(imported.error().message(),
            "cuda_ipc descriptor has no handle, but the array of shape (3, 4) and dtype float32 is not empty");
  EXPECT_EQ(opens(), before);
}

TEST_F(HostileReferenceTest, OpensNothingForNoElements) {
  const std::int64_t before = opens();
  const ImportedArray imported =
      transport().import_array(descriptor_.text(), DType::kFloat32, {0, 4}, Borrow::kNo).value();
  EXPECT_EQ(imported.path, ImportedArray::Path::kEmpty);
  EXPECT_EQ(opens(), before);
}

TEST_F(HostileReferenceTest, MayHoldAHandleThatNobodyMade) {
  descriptor_.handle->bytes.fill(std::byte{0});
  const Result<ImportedArray> imported = import(descriptor_.text(), kSize);
  ASSERT_FALSE(imported.has_value());
  EXPECT_EQ(imported.error().native_code(), 1);
  EXPECT_EQ(transport().explain(imported.error()).reason, TransportReason::kHandleInvalid);
}

TEST_F(HostileReferenceTest, MayComeWithImpossibleShapes) {
  constexpr std::int64_t kLong = std::numeric_limits<std::int64_t>::max();
  for (const Shape& shape : {Shape{-1}, Shape{kLong, kLong}, Shape{0, -1}}) {
    const auto imported = transport().import_array(descriptor_.text(), DType::kFloat64, shape, Borrow::kNo);
    ASSERT_FALSE(imported.has_value());
    EXPECT_EQ(imported.error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST_F(HostileReferenceTest, MayBeNoReference) {
  EXPECT_EQ(import("", kSize).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(import(descriptor_.text() + ":1", kSize).error().code(), ErrorCode::kInvalidArgument);
}

// A cache that keeps little of what is not used.
class SmallCacheTest : public TwoProcessTest {
 protected:
  SmallCacheTest() : TwoProcessTest({.idle_mapping_bytes = 2 * DevicePool::kGranularityBytes}) {}
};

TEST_F(SmallCacheTest, ClosesWhatWasUsedLongestAgo) {
  const std::string first = ask("export 10 1");
  const std::string second = ask("export 10 2");
  const std::string third = ask("export 10 3");
  for (const std::string& reference : {first, second, third}) {
    clock().advance(std::chrono::seconds(1));
    (void)import(reference, 10);
  }
  EXPECT_EQ(stand_in().counts().live_mappings, 2U);
  const std::int64_t before = opens();
  (void)import(second, 10);
  (void)import(third, 10);
  EXPECT_EQ(opens(), before);
  (void)import(first, 10);
  EXPECT_EQ(opens(), before + 1);
}

TEST_F(SmallCacheTest, KeepsWhatIsUsedWhateverItsSize) {
  const ImportedArray large = import(ask("export 20000000 1"), 20000000, Borrow::kYes).value();
  (void)import(ask("export 10 2"), 10);
  EXPECT_EQ(stand_in().counts().live_mappings, 2U);
  expect_pattern(large.array, 1);
}

}  // namespace
}  // namespace tessera
