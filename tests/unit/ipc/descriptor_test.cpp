#include "tessera/ipc/descriptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tessera {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kGpu = "5f3b2c1a-0d4e-4a6b-8c9d-0123456789ab";

CudaIpcDescriptor example() {
  CudaIpcDescriptor descriptor;
  descriptor.gpu = *Uuid::parse(kGpu);
  descriptor.handle.emplace();
  for (std::size_t i = 0; i != descriptor.handle->bytes.size(); ++i) {
    descriptor.handle->bytes.at(i) = static_cast<std::byte>(i * 5);
  }
  descriptor.offset_bytes = 512;
  descriptor.allocation_bytes = 4096;
  return descriptor;
}

std::string replaced(std::string text, const std::string& part, const std::string& other) {
  return text.replace(text.find(part), part.size(), other);
}

void expect_fault(const std::string& text, const std::string& message) {
  const Result<CudaIpcDescriptor> parsed = CudaIpcDescriptor::parse(text);
  ASSERT_FALSE(parsed.has_value()) << text;
  EXPECT_EQ(parsed.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(parsed.error().message(), HasSubstr(message));
}

TEST(CudaIpcDescriptorTest, ReadsWhatItWrites) {
  const Result<CudaIpcDescriptor> parsed = CudaIpcDescriptor::parse(example().text());
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(*parsed, example());
}

TEST(CudaIpcDescriptorTest, WritesAnEmptyArrayWithoutAHandle) {
  CudaIpcDescriptor descriptor;
  descriptor.gpu = *Uuid::parse(kGpu);
  EXPECT_EQ(descriptor.text(), std::string(kGpu) + "::0:0");
  EXPECT_EQ(CudaIpcDescriptor::parse(descriptor.text())->handle, std::nullopt);
}

TEST(CudaIpcDescriptorTest, TakesTheLargestNumbers) {
  CudaIpcDescriptor descriptor = example();
  descriptor.offset_bytes = std::numeric_limits<std::uint64_t>::max();
  descriptor.allocation_bytes = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(*CudaIpcDescriptor::parse(descriptor.text()), descriptor);
}

TEST(CudaIpcDescriptorTest, RefusesOtherNumbersOfParts) {
  expect_fault("", "it is not <device>");
  expect_fault(replaced(example().text(), ":4096", ""), "it is not <device>");
  expect_fault(example().text() + ":0", "it is not <device>");
  expect_fault(std::string(1000000, ':'), "it is not <device>");
}

TEST(CudaIpcDescriptorTest, RefusesOtherFormsOfTheDevice) {
  for (const std::string device : {"", "0", "GPU-5f3b2c1a-0d4e-4a6b-8c9d-0123456789ab",
                                   "5F3B2C1A-0d4e-4a6b-8c9d-0123456789ab", "5f3b2c1a0d4e4a6b8c9d0123456789ab"}) {
    expect_fault(replaced(example().text(), std::string(kGpu), device), "its device");
  }
}

TEST(CudaIpcDescriptorTest, RefusesHandlesOfOtherSizes) {
  const std::string prefix = std::string(kGpu) + ':';
  expect_fault(prefix + "AAAA:0:4096", "its handle has 3 bytes, not 64");
  expect_fault(prefix + std::string(84, 'A') + ":0:4096", "its handle has 63 bytes, not 64");
  expect_fault(prefix + std::string(87, 'A') + "=:0:4096", "its handle has 65 bytes, not 64");
}

TEST(CudaIpcDescriptorTest, RefusesWhatIsNotBase64) {
  const std::string prefix = std::string(kGpu) + ':';
  expect_fault(prefix + std::string(86, 'A') + "=:0:1", "not base64");
  expect_fault(prefix + std::string(85, 'A') + "-==:0:1", "not base64");
  expect_fault(prefix + std::string(40, 'A') + '=' + std::string(45, 'A') + "==:0:1", "not base64");
  // Bits that no byte has.
  expect_fault(prefix + std::string(85, 'A') + "B==:0:1", "not base64");
}

TEST(CudaIpcDescriptorTest, RefusesOtherFormsOfNumbers) {
  for (const std::string number : {"", "-1", "+1", " 1", "1 ", "0x10", "1.0", "1e3"}) {
    expect_fault(replaced(example().text(), ":512:", ':' + number + ':'), "its storage_offset is not a number");
    expect_fault(replaced(example().text(), ":4096", ':' + number), "its storage_size is not a number");
  }
  expect_fault(replaced(example().text(), ":512:", ":18446744073709551616:"), "its storage_offset does not fit");
  expect_fault(replaced(example().text(), ":4096", ":99999999999999999999"), "its storage_size does not fit");
}

}  // namespace
}  // namespace tessera
