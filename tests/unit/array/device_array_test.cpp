#include "tessera/array/device_array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tessera/array/array_reader.h"
#include "tessera/array/fit.h"
#include "tessera/array/value_writer.h"

namespace tessera {
namespace {

/// Stands in for memory on a GPU: only copy_to_host() gets at the bytes.
class FarBlock final : public DeviceBlock {
 public:
  explicit FarBlock(std::vector<float> elements) : elements_(std::move(elements)) {}
  [[nodiscard]] const Uuid& gpu() const override { return gpu_; }
  [[nodiscard]] std::uint64_t address() const override { return 0x7f0000000000; }
  [[nodiscard]] std::size_t size_bytes() const override { return elements_.size() * sizeof(float); }
  [[nodiscard]] Status wait() const override { return {}; }
  [[nodiscard]] Status wait_for_gpu() const override { return {}; }
  [[nodiscard]] Status copy_to_host(std::span<std::byte> bytes) const override {
    std::memcpy(bytes.data(), elements_.data(), bytes.size());
    return {};
  }

 private:
  Uuid gpu_;
  std::vector<float> elements_;
};

Array far_array(Shape shape = {2, 2}) {
  return Array::on_device(DType::kFloat32, std::move(shape),
                          std::make_shared<FarBlock>(std::vector<float>{1, 2, 3, 4}));
}

/// Hands out one array, and remembers for what.
class OneArrayReader final : public DeviceArrayReader {
 public:
  [[nodiscard]] Result<Array> read(std::string_view reference, DType dtype, Shape shape) const override {
    references.emplace_back(reference);
    if (is_broken) {
      return Error(ErrorCode::kNotFound, "the GPU is gone");
    }
    return Array::on_device(dtype, std::move(shape), std::make_shared<FarBlock>(std::vector<float>{1, 2, 3, 4}));
  }

  bool is_broken = false;
  mutable std::vector<std::string> references;
};

class NamingWriter final : public DeviceArrayWriter {
 public:
  [[nodiscard]] Result<std::optional<std::string>> write(const Array& /*array*/) override {
    return is_negotiated ? std::optional<std::string>("uuid:handle:0:16") : std::nullopt;
  }
  [[nodiscard]] Result<Array> to_host(const Array& array) override {
    ++host_copies;
    return is_forbidden ? Result<Array>(Error(ErrorCode::kInvalidArgument, "forbidden")) : array.to_host();
  }

  bool is_negotiated = true;
  bool is_forbidden = false;
  int host_copies = 0;
};

constexpr const char* kReference = "01234567-89ab-cdef-0123-456789abcdef:AAAA:0:16";

std::string wire_array(const std::string& shape = "[2,2]", const std::string& dtype = "float32") {
  return R"({"shape":)" + shape + R"(,"dtype":")" + dtype + R"(","data":{"buffer":")" + kReference +
         R"(","encoding":"cuda_ipc"}})";
}

std::variant<Array, ArrayFault> read(const std::string& json, const ArraySpec& spec, const DeviceArrayReader* device) {
  JsonScanner scanner(json);
  return ArrayReader(nullptr, {.array_bytes = 64}, device).read(scanner, spec);
}

ArrayFault fault_of(const std::variant<Array, ArrayFault>& read) {
  const auto* fault = std::get_if<ArrayFault>(&read);
  EXPECT_NE(fault, nullptr);
  return fault == nullptr ? ArrayFault{} : *fault;
}

const ArraySpec kMatrix{.dtype = DType::kFloat32, .shape = Shape{2, kFreeAxis}};

TEST(DeviceArrayTest, GivesItsElementsToTheHostOnlyWhenAsked) {
  const Array array = far_array();
  EXPECT_TRUE(array.is_on_device());
  EXPECT_TRUE(array.has_data());
  EXPECT_TRUE(array.bytes().empty());
  EXPECT_THROW((void)array.values<float>(), std::invalid_argument);
  const Result<Array> copy = array.to_host();
  ASSERT_TRUE(copy.has_value());
  EXPECT_FALSE(copy->is_on_device());
  EXPECT_EQ(copy->values<float>()[3], 4.0F);
}

TEST(DeviceArrayTest, NeedsMemoryForItsShape) {
  EXPECT_THROW((void)far_array({5}), std::invalid_argument);
  EXPECT_THROW((void)Array::on_device(DType::kFloat32, {1}, nullptr), std::invalid_argument);
  EXPECT_EQ(far_array({3}).size_bytes(), 12U);
}

TEST(DeviceArrayTest, KeepsItsMemoryUnderAnotherShape) {
  const Array array = far_array();
  EXPECT_EQ(array.reshaped({4}).device(), array.device());
}

TEST(DeviceArrayTest, IsNeitherCastNorStretched) {
  EXPECT_TRUE(std::holds_alternative<Array>(fit(far_array(), kMatrix)));
  const ArrayFault dtype = fault_of(fit(far_array(), {.dtype = DType::kFloat64, .shape = std::nullopt}));
  EXPECT_EQ(dtype.kind, ArrayFault::Kind::kDType);
  EXPECT_FALSE(dtype.reason.empty());
  const ArrayFault shape = fault_of(fit(far_array({1, 4}), {.dtype = std::nullopt, .shape = Shape{2, 4}}));
  EXPECT_EQ(shape.kind, ArrayFault::Kind::kShape);
}

TEST(DeviceArrayReaderTest, IsAskedForArraysThatFit) {
  const OneArrayReader device;
  const auto array = read(wire_array(), kMatrix, &device);
  ASSERT_TRUE(std::holds_alternative<Array>(array));
  EXPECT_TRUE(std::get<Array>(array).is_on_device());
  EXPECT_EQ(device.references, std::vector<std::string>{kReference});
}

TEST(DeviceArrayReaderTest, IsNotAskedForArraysThatDoNotFit) {
  const OneArrayReader device;
  const ArrayFault dtype = fault_of(read(wire_array("[2,2]", "float64"), kMatrix, &device));
  EXPECT_EQ(dtype.kind, ArrayFault::Kind::kDType);
  EXPECT_EQ(dtype.reason, "cuda_ipc does not cast on device");
  const ArrayFault stretched = fault_of(read(wire_array("[1,2]"), kMatrix, &device));
  EXPECT_EQ(stretched.kind, ArrayFault::Kind::kShape);
  EXPECT_EQ(stretched.expected_shape, (Shape{2, kFreeAxis}));
  for (const char* shape : {"[2]", "[3,2]"}) {
    EXPECT_EQ(fault_of(read(wire_array(shape), kMatrix, &device)).kind, ArrayFault::Kind::kNonNumeric) << shape;
  }
  EXPECT_EQ(fault_of(read(wire_array("[2,9]"), kMatrix, &device)).kind, ArrayFault::Kind::kDecode) << "the limit";
  EXPECT_TRUE(device.references.empty());
}

TEST(DeviceArrayReaderTest, SaysWhyAnArrayCannotBeHad) {
  OneArrayReader device;
  device.is_broken = true;
  const ArrayFault fault = fault_of(read(wire_array(), kMatrix, &device));
  EXPECT_EQ(fault.kind, ArrayFault::Kind::kDecode);
  EXPECT_EQ(fault.encoding, "cuda_ipc");
  EXPECT_EQ(fault.reason, "the GPU is gone");
  EXPECT_NE(fault_of(read(wire_array(), kMatrix, nullptr)).reason.find("not enabled"), std::string::npos);
}

class DeviceArrayWriterTest : public ::testing::Test {
 protected:
  std::string written(DeviceArrayWriter* writer) {
    Body body;
    status_ = write_value(far_array(), Encoding{}, {.device = writer}, body);
    return status_ ? body.to_string() : "";
  }

  Status status_;
};

TEST_F(DeviceArrayWriterTest, NamesTheArray) {
  NamingWriter writer;
  EXPECT_EQ(written(&writer), R"({"object_type":"array","shape":[2,2],"dtype":"float32",)"
                              R"("data":{"buffer":"uuid:handle:0:16","encoding":"cuda_ipc"}})");
  EXPECT_EQ(writer.host_copies, 0);
}

TEST_F(DeviceArrayWriterTest, WritesTheElementsForAClientThatTakesNoReference) {
  constexpr const char* kElements = R"({"object_type":"array","shape":[2,2],"dtype":"float32",)"
                                    R"("data":{"buffer":[[1.0,2.0],[3.0,4.0]],"encoding":"json"}})";
  NamingWriter writer;
  writer.is_negotiated = false;
  EXPECT_EQ(written(&writer), kElements);
  EXPECT_EQ(writer.host_copies, 1);
  EXPECT_EQ(written(nullptr), kElements);
}

TEST_F(DeviceArrayWriterTest, PassesOnThatHostCopiesAreForbidden) {
  NamingWriter writer;
  writer.is_negotiated = false;
  writer.is_forbidden = true;
  EXPECT_EQ(written(&writer), "");
  EXPECT_EQ(status_.error().message(), "forbidden");
}

}  // namespace
}  // namespace tessera
