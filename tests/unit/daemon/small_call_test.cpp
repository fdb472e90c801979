// How often one small call asks for memory.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "raw_connection.h"
#include "support/recording_logger.h"
#include "support/temp_folder.h"
#include "tessera/base/clock.h"
#include "tessera/daemon/daemon.h"
#include "tessera/tesseract/tesseract.h"

namespace {

std::atomic<std::uint64_t> allocation_count{0};
thread_local bool is_client = false;

}  // namespace

// Count for all libraries of the program, on all threads but the client's.
void* operator new(std::size_t size) {
  allocation_count.fetch_add(is_client ? 0 : 1, std::memory_order_relaxed);
  void* const memory = std::malloc(size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  allocation_count.fetch_add(is_client ? 0 : 1, std::memory_order_relaxed);
  const auto unit = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

namespace tessera {
namespace {

std::shared_ptr<const TesseractDefinition> make_identity() {
  auto definition = std::make_shared<TesseractDefinition>("identity");
  definition->inputs(Schema("InputSchema").field("x", array(DType::kFloat32, {kFreeAxis})));
  definition->outputs(Schema("OutputSchema").field("x", array(DType::kFloat32, {kFreeAxis})));
  definition->apply([](const Object& inputs, Context& /*context*/) -> Object { return {{"x", inputs["x"]}}; });
  return definition;
}

TEST(SmallCallTest, AsksForMemoryFewTimes) {
  constexpr int kWarmUps = 50;
  constexpr int kCalls = 200;
  // 58 when this was written.
  constexpr std::uint64_t kMost = 62;

  const testing::TempFolder folder;
  testing::RecordingLogger logger;
  const SystemClock clock;
  DaemonOptions options;
  options.port = 0;
  options.config.output_path = folder.path();
  options.config.input_path = folder.path();
  std::vector<std::shared_ptr<const TesseractDefinition>> served;
  served.push_back(make_identity());
  const auto daemon = Daemon::start(options, std::move(served), logger, clock);
  ASSERT_TRUE(daemon.has_value()) << daemon.error().message();
  RawConnection client = RawConnection::to_port((*daemon)->port());
  const std::string request = post("/apply", R"({"inputs":{"x":[1.0,2.0,3.0]}})");

  is_client = true;
  std::uint64_t before = 0;
  for (int i = 0; i < kWarmUps + kCalls; ++i) {
    if (i == kWarmUps) {
      before = allocation_count;
    }
    ASSERT_NE(client.exchange(request).body.find("[1.0,2.0,3.0]"), std::string::npos);
  }
  const std::uint64_t each = (allocation_count - before) / kCalls;
  is_client = false;
  EXPECT_LE(each, kMost);
  EXPECT_GT(each, 0U);  // they are counted
  RecordProperty("allocations", std::to_string(each));
}

}  // namespace
}  // namespace tessera
