// Exports, and imports in the process that exported.
#include <gtest/gtest.h>

#include "ipc_test.h"
#include "tessera/cuda/device_memory.h"

namespace tessera {
namespace {

using ExportTest = IpcTest;

CudaIpcDescriptor descriptor_of(const ExportedArray& exported) {
  return CudaIpcDescriptor::parse(exported.reference).value();
}

constexpr std::size_t kPage = DevicePool::kGranularityBytes;

TEST_F(ExportTest, NamesMemoryOfThePoolInPlace) {
  const Array array = on_gpu(1000);
  const ExportedArray exported = this->exported(array);
  EXPECT_FALSE(exported.is_staged);
  EXPECT_EQ(exported.pinned_bytes, DevicePool::kGranularityBytes);
  EXPECT_EQ(descriptor_of(exported).gpu, gpu()->uuid());
  EXPECT_EQ(descriptor_of(exported).offset_bytes, 0U);
  EXPECT_EQ(descriptor_of(exported).allocation_bytes, DevicePool::kGranularityBytes);
  EXPECT_EQ(system().counters().exports_in_place, 1U);
}

TEST_F(ExportTest, NamesForeignMemoryByBaseAndOffset) {
  const DeviceMemory memory = DeviceMemory::allocate(gpu(), kPage).value();
  ForeignMemory foreign;
  foreign.address = memory.address() + 512;
  const Array array = system().wrap(DType::kUInt8, {1000}, foreign).value();
  const ExportedArray exported = this->exported(array);
  EXPECT_FALSE(exported.is_staged);
  EXPECT_EQ(descriptor_of(exported).offset_bytes, 512U);
  EXPECT_EQ(descriptor_of(exported).allocation_bytes, kPage);
  EXPECT_EQ(exported.pinned_bytes, kPage);
  EXPECT_EQ(descriptor_of(exported).handle, ipc_handle_of(*gpu(), memory.address()).value());
}

TEST_F(ExportTest, CopiesForeignMemoryThatMaySharePagesWithOthers) {
  for (const std::size_t size_bytes : {std::size_t{4096}, kPage + 512}) {
    const DeviceMemory memory = DeviceMemory::allocate(gpu(), size_bytes).value();
    ForeignMemory foreign;
    foreign.address = memory.address();
    const ExportedArray exported = this->exported(system().wrap(DType::kUInt8, {1000}, foreign).value());
    EXPECT_TRUE(exported.is_staged);
    EXPECT_EQ(descriptor_of(exported).allocation_bytes, kPage);
  }
}

TEST_F(ExportTest, TakesAHandleOnceForAnArray) {
  const DeviceMemory memory = DeviceMemory::allocate(gpu(), kPage).value();
  ForeignMemory foreign;
  foreign.address = memory.address();
  const Array array = system().wrap(DType::kUInt8, {1000}, foreign).value();
  const std::string first = exported(array).reference;
  EXPECT_EQ(exported(array).reference, first);
  EXPECT_EQ(system().counters().handles_taken, 1U);
}

TEST_F(ExportTest, HasNoHandleForAnEmptyArray) {
  const Array array = system().allocate(gpu()->uuid(), DType::kFloat32, {0, 3}).value();
  const ExportedArray exported = this->exported(array);
  EXPECT_EQ(exported.reference, gpu()->uuid().text() + "::0:0");
  EXPECT_EQ(exported.owner, nullptr);
  EXPECT_EQ(exported.pinned_bytes, 0U);
  const ImportedArray imported =
      transport().import_array(exported.reference, DType::kFloat32, {0, 3}, Borrow::kNo).value();
  EXPECT_EQ(imported.path, ImportedArray::Path::kEmpty);
  EXPECT_EQ(imported.array.shape(), (Shape{0, 3}));
}

TEST_F(ExportTest, RefusesAHostArray) {
  const Result<ExportedArray> exported = transport().export_array(pattern_array(10, 1));
  ASSERT_FALSE(exported.has_value());
  EXPECT_EQ(exported.error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(ExportTest, KeepsTheMemoryAsLongAsItsOwner) {
  ExportedArray exported = this->exported(on_gpu(1000));
  EXPECT_EQ(system().pool_stats()[0].used_bytes, DevicePool::kGranularityBytes);
  exported.owner = nullptr;
  EXPECT_EQ(system().pool_stats()[0].used_bytes, 0U);
}

TEST_F(ExportTest, WaitsForTheStreamThatFillsTheArray) {
  const Result<ContextScope> scope = gpu()->enter();
  const DeviceMemory memory = DeviceMemory::allocate(gpu(), kPage).value();
  void* const stream = stand_in().create_stream();
  stand_in().set_delay_us(kLongTimeUs);
  stand_in().fill(memory.address(), 0x55, 1000, stream);
  ForeignMemory foreign;
  foreign.address = memory.address();
  foreign.stream = stream;
  const ExportedArray exported = this->exported(system().wrap(DType::kUInt8, {1000}, foreign).value());
  EXPECT_EQ(stand_in().call<int(void*)>("cuStreamQuery")(stream), 0);
  stand_in().set_delay_us(0);
  stand_in().destroy_stream(stream);
}

TEST_F(ExportTest, HandsOnItsOwnMemoryInTheSameProcess) {
  const Array array = on_gpu(1000, 6);
  const ExportedArray exported = this->exported(array);
  const std::int64_t before = opens();
  const ImportedArray imported = import(exported.reference, 1000).value();
  EXPECT_EQ(imported.path, ImportedArray::Path::kSameProcess);
  EXPECT_EQ(imported.array.device()->address(), array.device()->address());
  EXPECT_EQ(opens(), before);
  EXPECT_EQ(system().counters().imports_same_process, 1U);
  expect_pattern(imported.array, 6);
}

TEST_F(ExportTest, HandsOnAPartOfWhatItExported) {
  const Array array = on_gpu(1000, 6);
  CudaIpcDescriptor descriptor = descriptor_of(exported(array));
  const ExportedArray exported = this->exported(array);
  descriptor.offset_bytes = 100;
  const ImportedArray imported = import(descriptor.text(), 800).value();
  EXPECT_EQ(imported.path, ImportedArray::Path::kSameProcess);
  EXPECT_EQ(imported.array.device()->address(), array.device()->address() + 100);
  // And it can be exported again.
  EXPECT_EQ(descriptor_of(this->exported(imported.array)).offset_bytes, 100U);
}

TEST_F(ExportTest, DoesNotHandOnWhatWasNotExported) {
  const Array array = on_gpu(1000);
  const ExportedArray exported = this->exported(array);
  CudaIpcDescriptor descriptor = descriptor_of(exported);
  descriptor.offset_bytes = 500;
  const std::int64_t before = opens();
  const Result<ImportedArray> behind = import(descriptor.text(), 501);
  ASSERT_FALSE(behind.has_value());
  EXPECT_EQ(transport().explain(behind.error()).reason, TransportReason::kHandleInvalid);
  EXPECT_EQ(opens(), before);
}

TEST_F(ExportTest, DoesNotHandOnWhatWasTakenBack) {
  const Array array = on_gpu(1000);
  ExportedArray exported = this->exported(array);
  exported.owner = nullptr;
  const std::int64_t before = opens();
  const Result<ImportedArray> gone = import(exported.reference, 1000);
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error().message(), "cuda_ipc descriptor names memory of this process that is not exported (any more)");
  EXPECT_EQ(transport().explain(gone.error()).reason, TransportReason::kHandleInvalid);
  EXPECT_EQ(opens(), before);
}

// Memory that legacy IPC refuses.
class StagingTest : public IpcTest {
 protected:
  void expect_staged(std::uint64_t address) const {
    ASSERT_TRUE(copy_to_device(*gpu(), address, pattern(1000, 8)).has_value());
    ForeignMemory foreign;
    foreign.address = address;
    const Array array = system().wrap(DType::kUInt8, {1000}, foreign).value();
    const std::int64_t handles = stand_in().calls("cuIpcGetMemHandle");
    const ExportedArray exported = this->exported(array);
    EXPECT_TRUE(exported.is_staged);
    // One for the copy: it is not found out by a failing call.
    EXPECT_EQ(stand_in().calls("cuIpcGetMemHandle"), handles + 1);
    const ImportedArray imported = import(exported.reference, 1000).value();
    expect_pattern(imported.array, 8);
    EXPECT_EQ(system().counters().exports_staged, 1U);
  }
};

TEST_F(StagingTest, CopiesManagedMemory) {
  const Result<ContextScope> scope = gpu()->enter();
  const std::uint64_t address = stand_in().allocate_managed(4096);
  expect_staged(address);
  stand_in().free(address);
}

TEST_F(StagingTest, CopiesMemoryOfAPool) {
  const Result<ContextScope> scope = gpu()->enter();
  const std::uint64_t address = stand_in().allocate_from_pool(4096);
  expect_staged(address);
  stand_in().free(address);
}

TEST_F(StagingTest, CopiesVirtualMemory) {
  const Result<ContextScope> scope = gpu()->enter();
  const testing::VirtualMemory memory(stand_in(), DevicePool::kGranularityBytes, 0);
  expect_staged(memory.address());
}

TEST_F(StagingTest, WaitsForTheStreamBeforeItCopies) {
  const Result<ContextScope> scope = gpu()->enter();
  const std::uint64_t address = stand_in().allocate_managed(1000);
  ASSERT_TRUE(copy_to_device(*gpu(), address, pattern(1000, 8)).has_value());
  void* const stream = stand_in().create_stream();
  stand_in().set_delay_us(kLongTimeUs);
  stand_in().fill(address, 0x77, 1000, stream);
  ForeignMemory foreign;
  foreign.address = address;
  foreign.stream = stream;
  const ExportedArray exported = this->exported(system().wrap(DType::kUInt8, {1000}, foreign).value());
  stand_in().set_delay_us(0);
  const Array host = import(exported.reference, 1000)->array.to_host().value();
  EXPECT_EQ(std::count(host.bytes().begin(), host.bytes().end(), std::byte{0x77}), 1000);
  stand_in().destroy_stream(stream);
  stand_in().free(address);
}

}  // namespace
}  // namespace tessera
