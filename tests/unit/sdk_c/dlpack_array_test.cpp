#include "dlpack_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/manual_clock.h"
#include "support/stand_in.h"
#include "tessera/cuda/device_memory.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

// A tensor over memory of a test, that counts the calls of its deleter.
class CountedTensor {
 public:
  CountedTensor(void* data, DLDataType dtype, Shape shape, std::vector<std::int64_t> strides = {})
      : shape_(std::move(shape)), strides_(std::move(strides)) {
    DLTensor& dl = tensor_.dl_tensor;
    dl.data = data;
    dl.device = {kDLCPU, 0};
    dl.ndim = static_cast<std::int32_t>(shape_.size());
    dl.dtype = dtype;
    dl.shape = shape_.data();
    dl.strides = strides_.empty() ? nullptr : strides_.data();
    tensor_.manager_ctx = this;
    tensor_.deleter = [](DLManagedTensor* self) { ++static_cast<CountedTensor*>(self->manager_ctx)->deletions_; };
  }
  CountedTensor(const CountedTensor&) = delete;
  CountedTensor& operator=(const CountedTensor&) = delete;

  DLManagedTensor* get() { return &tensor_; }
  DLTensor& dl() { return tensor_.dl_tensor; }
  [[nodiscard]] int deletions() const { return deletions_; }

 private:
  DLManagedTensor tensor_{};
  Shape shape_;
  std::vector<std::int64_t> strides_;
  int deletions_ = 0;
};

constexpr DLDataType kFloatType{kDLFloat, 32, 1};
constexpr DLDataType kByteType{kDLUInt, 8, 1};

struct TensorDeleter {
  void operator()(DLManagedTensor* tensor) const { tensor->deleter(tensor); }
};
using OwnedTensor = std::unique_ptr<DLManagedTensor, TensorDeleter>;

OwnedTensor tensor_of(const Array& array, const std::shared_ptr<GpuSystem>& gpus = nullptr) {
  return OwnedTensor(dlpack_from_array(array, gpus).value());
}

// The text of the error, once it has been seen that the tensor is still its owner's.
std::string refusal(CountedTensor& tensor, const std::shared_ptr<GpuSystem>& gpus = nullptr) {
  const Result<Array> array = array_from_dlpack(tensor.get(), gpus);
  EXPECT_EQ(tensor.deletions(), 0);
  if (array) {
    ADD_FAILURE() << "there is an array";
    return "";
  }
  EXPECT_EQ(array.error().code(), ErrorCode::kInvalidArgument);
  return array.error().message();
}

template <class T>
std::vector<T> elements_of(const Array& array) {
  const std::span<const T> values = array.values<T>();
  return {values.begin(), values.end()};
}

TEST(DlpackArrayTest, GoesThereAndBackInEveryDtype) {
  for (const DType dtype : all_dtypes()) {
    const Array array = Array::zeros(dtype, {2, 3});
    const OwnedTensor tensor = tensor_of(array);
    EXPECT_EQ(tensor->dl_tensor.dtype.bits, item_size_bytes(dtype) * 8);
    EXPECT_EQ(tensor->dl_tensor.data, array.bytes().data());
    CountedTensor same(tensor->dl_tensor.data, tensor->dl_tensor.dtype, {2, 3});
    const Array back = array_from_dlpack(same.get()).value();
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.shape(), (Shape{2, 3}));
    EXPECT_TRUE(std::ranges::equal(back.bytes(), array.bytes()));
  }
}

TEST(DlpackArrayTest, NamesElementTypesAsDlpackDoes) {
  const auto type_of = [](DType dtype) { return tensor_of(Array::zeros(dtype, {}))->dl_tensor.dtype; };
  EXPECT_EQ(type_of(DType::kFloat16).code, 2);
  EXPECT_EQ(type_of(DType::kInt64).code, 0);
  EXPECT_EQ(type_of(DType::kUInt8).code, 1);
  EXPECT_EQ(type_of(DType::kComplex64).code, 5);
  EXPECT_EQ(type_of(DType::kBool).code, 6);
  EXPECT_EQ(type_of(DType::kBool).bits, 8);
  EXPECT_EQ(type_of(DType::kBool).lanes, 1);
}

TEST(DlpackArrayTest, SpellsStridesOut) {
  const OwnedTensor tensor = tensor_of(Array::zeros(DType::kInt16, {2, 3, 4}));
  EXPECT_EQ(tensor->dl_tensor.ndim, 3);
  EXPECT_EQ(std::vector<std::int64_t>(tensor->dl_tensor.strides, tensor->dl_tensor.strides + 3),
            (std::vector<std::int64_t>{12, 4, 1}));
  EXPECT_EQ(tensor->dl_tensor.byte_offset, 0U);
}

TEST(DlpackArrayTest, KeepsTheTensorUntilTheLastCopyGoes) {
  float elements[] = {1, 2, 3};
  CountedTensor tensor(elements, kFloatType, {3});
  {
    std::optional<Array> first = array_from_dlpack(tensor.get()).value();
    const Array array = *first;
    first.reset();
    EXPECT_EQ(reinterpret_cast<const float*>(array.bytes().data()), elements);
    EXPECT_EQ(tensor.deletions(), 0);
  }
  EXPECT_EQ(tensor.deletions(), 1);
}

TEST(DlpackArrayTest, KeepsTheArrayAsLongAsItsTensor) {
  OwnedTensor tensor = tensor_of(Array::of<double>({1, 2}));
  EXPECT_EQ(static_cast<const double*>(tensor->dl_tensor.data)[1], 2);
  const Array back = array_from_dlpack(tensor.release()).value();
  EXPECT_EQ(elements_of<double>(back), (std::vector<double>{1, 2}));
}

TEST(DlpackArrayTest, TakesATensorWithoutDeleter) {
  float element = 7;
  CountedTensor tensor(&element, kFloatType, {});
  tensor.get()->deleter = nullptr;
  EXPECT_EQ(array_from_dlpack(tensor.get()).value().item<float>(), 7);
}

TEST(DlpackArrayTest, PacksWhatIsNotInCOrder) {
  float elements[] = {0, 1, 2, 3, 4, 5};
  CountedTensor transposed(elements, kFloatType, {3, 2}, {1, 3});
  EXPECT_EQ(elements_of<float>(array_from_dlpack(transposed.get()).value()), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(transposed.deletions(), 1);
  CountedTensor reversed(elements + 5, kFloatType, {6}, {-1});
  EXPECT_EQ(elements_of<float>(array_from_dlpack(reversed.get()).value()), (std::vector<float>{5, 4, 3, 2, 1, 0}));
  CountedTensor repeated(elements + 1, kFloatType, {2, 2}, {0, 1});
  EXPECT_EQ(elements_of<float>(array_from_dlpack(repeated.get()).value()), (std::vector<float>{1, 2, 1, 2}));
  CountedTensor gaps(elements, kFloatType, {2, 1, 2}, {3, 1, 2});
  EXPECT_EQ(elements_of<float>(array_from_dlpack(gaps.get()).value()), (std::vector<float>{0, 2, 3, 5}));
}

TEST(DlpackArrayTest, PacksElementsOfEverySize) {
  for (const DType dtype : all_dtypes()) {
    const std::size_t item = item_size_bytes(dtype);
    std::vector<unsigned char> bytes(item * 3);
    for (std::size_t i = 0; i != bytes.size(); ++i) {
      bytes[i] = dtype == DType::kBool ? 1 : static_cast<unsigned char>(i);
    }
    CountedTensor every_second(bytes.data(), tensor_of(Array::zeros(dtype, {}))->dl_tensor.dtype, {2}, {2});
    const Array array = array_from_dlpack(every_second.get()).value();
    ASSERT_EQ(array.size_bytes(), item * 2);
    EXPECT_EQ(std::memcmp(array.bytes().data(), bytes.data(), item), 0);
    EXPECT_EQ(std::memcmp(array.bytes().data() + item, bytes.data() + item * 2, item), 0);
  }
}

TEST(DlpackArrayTest, SharesWhateverStrideAnAxisOfOneHas) {
  float elements[] = {0, 1, 2};
  CountedTensor tensor(elements, kFloatType, {1, 3, 1}, {std::numeric_limits<std::int64_t>::max(), 1, -9});
  const Array array = array_from_dlpack(tensor.get()).value();
  EXPECT_EQ(reinterpret_cast<const float*>(array.bytes().data()), elements);
}

TEST(DlpackArrayTest, BeginsAtTheByteOffset) {
  float elements[] = {0, 1, 2, 3};
  CountedTensor tensor(elements, kFloatType, {2});
  tensor.dl().byte_offset = 2 * sizeof(float);
  EXPECT_EQ(elements_of<float>(array_from_dlpack(tensor.get()).value()), (std::vector<float>{2, 3}));
}

TEST(DlpackArrayTest, CopiesWhatIsNotAligned) {
  alignas(8) unsigned char bytes[9] = {};
  const float expected = 1.5F;
  std::memcpy(bytes + 1, &expected, sizeof expected);
  CountedTensor tensor(bytes, kFloatType, {1});
  tensor.dl().byte_offset = 1;
  EXPECT_EQ(array_from_dlpack(tensor.get()).value().item<float>(), 1.5F);
  EXPECT_EQ(tensor.deletions(), 1);
}

TEST(DlpackArrayTest, MakesBoolsOfZeroAndOne) {
  unsigned char flags[] = {0, 1, 255};
  CountedTensor tensor(flags, {kDLBool, 8, 1}, {3});
  const Array array = array_from_dlpack(tensor.get()).value();
  EXPECT_EQ(elements_of<bool>(array), (std::vector<bool>{false, true, true}));
}

TEST(DlpackArrayTest, TakesNoElementsAndNoAxes) {
  CountedTensor empty(nullptr, kFloatType, {0, 3}, {1, 1});
  const Array array = array_from_dlpack(empty.get()).value();
  EXPECT_EQ(array.shape(), (Shape{0, 3}));
  EXPECT_EQ(empty.deletions(), 1);
  const OwnedTensor out = tensor_of(array);
  EXPECT_EQ(out->dl_tensor.shape[1], 3);
  float element = 3;
  CountedTensor scalar(&element, kFloatType, {});
  EXPECT_EQ(array_from_dlpack(scalar.get()).value().item<float>(), 3);
}

TEST(DlpackArrayTest, TakesPinnedHostMemory) {
  float element = 3;
  CountedTensor tensor(&element, kFloatType, {});
  tensor.dl().device = {kDLCUDAHost, 0};
  EXPECT_FALSE(array_from_dlpack(tensor.get()).value().is_on_device());
}

TEST(DlpackArrayTest, RefusesElementTypesThatItDoesNotHave) {
  float element = 0;
  CountedTensor bfloat(&element, {kDLBfloat, 16, 1}, {});
  EXPECT_THAT(refusal(bfloat), HasSubstr("bfloat of 16 bits"));
  CountedTensor lanes(&element, {kDLFloat, 32, 4}, {});
  EXPECT_THAT(refusal(lanes), HasSubstr("float of 32 bits in 4 lanes"));
  CountedTensor packed(&element, {kDLInt, 4, 1}, {});
  EXPECT_THAT(refusal(packed), HasSubstr("int of 4 bits"));
  CountedTensor unknown(&element, {17, 8, 1}, {});
  EXPECT_THAT(refusal(unknown), HasSubstr("type 17 of 8 bits"));
}

TEST(DlpackArrayTest, RefusesWhatIsNoArray) {
  float element = 0;
  CountedTensor negative(&element, kFloatType, {-1});
  EXPECT_THAT(refusal(negative), HasSubstr("a size is negative"));
  CountedTensor huge(&element, kFloatType, {std::int64_t{1} << 40U, std::int64_t{1} << 40U});
  EXPECT_THAT(refusal(huge), HasSubstr("too large"));
  CountedTensor far(&element, kFloatType, {2, 3}, {std::int64_t{1} << 62U, 1});
  EXPECT_THAT(refusal(far), HasSubstr("reach further"));
  CountedTensor farther(&element, kFloatType, {2, 2}, {std::int64_t{1} << 60U, std::int64_t{1} << 60U});
  EXPECT_THAT(refusal(farther), HasSubstr("reach further"));
  CountedTensor no_data(nullptr, kFloatType, {2});
  EXPECT_THAT(refusal(no_data), HasSubstr("no data for 8 bytes"));
  CountedTensor no_shape(&element, kFloatType, {2});
  no_shape.dl().shape = nullptr;
  EXPECT_THAT(refusal(no_shape), HasSubstr("no shape for 1 axes"));
  CountedTensor axes(&element, kFloatType, Shape(kMaxRank + 1, 1));
  EXPECT_THAT(refusal(axes), HasSubstr("0 to 64 axes, not 65"));
  CountedTensor elsewhere(&element, kFloatType, {});
  elsewhere.dl().device = {static_cast<DLDeviceType>(8), 0};
  EXPECT_THAT(refusal(elsewhere), HasSubstr("device type 8"));
  EXPECT_FALSE(array_from_dlpack(nullptr).has_value());
}

TEST(DlpackArrayTest, HasNoTensorForAShapeAlone) {
  const auto tensor = dlpack_from_array(Array::shape_only(DType::kInt8, {2}));
  ASSERT_FALSE(tensor.has_value());
  EXPECT_EQ(tensor.error().code(), ErrorCode::kInvalidArgument);
}

TEST(DlpackArrayTest, SaysWhyThereIsNoGpu) {
  const testing::ManualClock clock;
  const auto gpus = GpuSystem::open({.driver_library = "libtessera_no_such_driver.so.1"}, clock);
  float element = 0;
  CountedTensor tensor(&element, kFloatType, {1});
  tensor.dl().device = {kDLCUDA, 0};
  EXPECT_THAT(refusal(tensor, gpus), HasSubstr("this process has no GPU 0: "));
}

class DlpackDeviceArrayTest : public ::testing::Test {
 protected:
  DlpackDeviceArrayTest() : gpus_(GpuSystem::open({.driver_library = testing::stand_in_path()}, clock_)) {}
  ~DlpackDeviceArrayTest() override {
    gpus_.reset();
    EXPECT_EQ(stand_in_.counts().live_allocations, 0U);
  }

  [[nodiscard]] const std::shared_ptr<GpuSystem>& gpus() const { return gpus_; }
  // The bytes 0 to 5 on a GPU.
  [[nodiscard]] Array six_bytes(std::size_t gpu = 0) const {
    return gpus_->to_device(Array::of<std::uint8_t>({0, 1, 2, 3, 4, 5}), gpus_->gpus()[gpu]->uuid()).value();
  }
  static void* pointer_to(const Array& array) {
    return reinterpret_cast<void*>(array.device()->address());  // NOLINT(performance-no-int-to-ptr)
  }
  [[nodiscard]] std::vector<std::uint8_t> bytes_of(const Array& array) const {
    return elements_of<std::uint8_t>(gpus_->to_host(array).value());
  }

 private:
  testing::ManualClock clock_;
  testing::StandIn stand_in_;
  std::shared_ptr<GpuSystem> gpus_;
};

TEST_F(DlpackDeviceArrayTest, GoesThereAndBackInPlace) {
  const Array array = six_bytes(1);
  OwnedTensor tensor = tensor_of(array, gpus());
  EXPECT_EQ(tensor->dl_tensor.device.device_type, kDLCUDA);
  EXPECT_EQ(tensor->dl_tensor.device.device_id, 1);
  const Array back = array_from_dlpack(tensor.release(), gpus()).value();
  EXPECT_EQ(back.device()->address(), array.device()->address());
  EXPECT_EQ(bytes_of(back), (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5}));
}

TEST_F(DlpackDeviceArrayTest, KeepsTheTensorUntilTheLastCopyGoes) {
  const Array memory = six_bytes();
  CountedTensor tensor(pointer_to(memory), kByteType, {2, 2});
  tensor.dl().device = {kDLCUDA, 0};
  tensor.dl().byte_offset = 2;
  {
    const Array array = array_from_dlpack(tensor.get(), gpus()).value();
    EXPECT_EQ(bytes_of(array), (std::vector<std::uint8_t>{2, 3, 4, 5}));
    EXPECT_EQ(tensor.deletions(), 0);
  }
  EXPECT_EQ(tensor.deletions(), 1);
}

TEST_F(DlpackDeviceArrayTest, PacksWhatIsNotInCOrder) {
  const Array memory = six_bytes();
  CountedTensor tensor(pointer_to(memory), kByteType, {3, 2}, {1, 3});
  tensor.dl().device = {kDLCUDA, 0};
  const Array array = array_from_dlpack(tensor.get(), gpus()).value();
  EXPECT_TRUE(array.is_on_device());
  EXPECT_EQ(bytes_of(array), (std::vector<std::uint8_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(tensor.deletions(), 1);
}

TEST_F(DlpackDeviceArrayTest, TakesNoElements) {
  CountedTensor tensor(nullptr, kByteType, {0, 2});
  tensor.dl().device = {kDLCUDA, 1};
  const Array array = array_from_dlpack(tensor.get(), gpus()).value();
  EXPECT_EQ(array.device()->gpu(), gpus()->gpus()[1]->uuid());
  EXPECT_EQ(tensor.deletions(), 1);
  EXPECT_EQ(tensor_of(array, gpus())->dl_tensor.data, nullptr);
}

TEST_F(DlpackDeviceArrayTest, RefusesMemoryThatIsNotWhereTheTensorSays) {
  const Array memory = six_bytes();
  CountedTensor tensor(pointer_to(memory), kByteType, {6});
  tensor.dl().device = {kDLCUDA, 1};
  EXPECT_THAT(refusal(tensor, gpus()), HasSubstr("not on GPU 1"));
  tensor.dl().device = {kDLCUDA, 2};
  EXPECT_THAT(refusal(tensor, gpus()), HasSubstr("no GPU 2"));
  std::uint8_t on_host = 0;
  CountedTensor host(&on_host, kByteType, {1});
  host.dl().device = {kDLCUDA, 0};
  EXPECT_FALSE(refusal(host, gpus()).empty());
}

}  // namespace
}  // namespace tessera

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  const tessera::testing::StandInMachine machine;
  return RUN_ALL_TESTS();
}
