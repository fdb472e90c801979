// A fixture with the GPUs of the stand-in driver, a transport, and another process to talk to.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pattern.h"
#include "support/child_process.h"
#include "support/manual_clock.h"
#include "support/stand_in.h"
#include "tessera/ipc/descriptor.h"
#include "tessera/ipc/gpu_system.h"
#include "tessera/ipc/gpu_transport.h"

namespace tessera {

class IpcTest : public ::testing::Test {
 protected:
  using Borrow = GpuTransport::Borrow;
  static constexpr std::uint64_t kLongTimeUs = 60000000;

  explicit IpcTest(GpuSystem::Options options = {}) {
    options.driver_library = testing::stand_in_path();
    system_ = GpuSystem::open(options, clock_);
    transport_ = make_cuda_ipc(system_);
    EXPECT_FALSE(system_->problem());
    stand_in_.set_delay_us(0);
  }
  ~IpcTest() override {
    stand_in_.set_faults("");
    stand_in_.set_delay_us(0);
    transport_.reset();
    system_.reset();
    EXPECT_EQ(stand_in_.counts().live_allocations, 0U);
    EXPECT_EQ(stand_in_.counts().live_mappings, 0U);
  }

  [[nodiscard]] GpuSystem& system() const { return *system_; }
  [[nodiscard]] const std::shared_ptr<const Gpu>& gpu() const { return system_->gpus().front(); }
  [[nodiscard]] GpuTransport& transport() const { return *transport_; }
  [[nodiscard]] const testing::StandIn& stand_in() const { return stand_in_; }
  [[nodiscard]] testing::ManualClock& clock() { return clock_; }

  [[nodiscard]] Array on_gpu(std::size_t size_bytes, unsigned seed = 1) const {
    return system_->to_device(pattern_array(size_bytes, seed), gpu()->uuid()).value();
  }
  [[nodiscard]] ExportedArray exported(const Array& array) const { return transport_->export_array(array).value(); }
  [[nodiscard]] Result<ImportedArray> import(const std::string& reference, std::size_t size_bytes,
                                             Borrow borrow = Borrow::kNo) const {
    return transport_->import_array(reference, DType::kUInt8, Shape{static_cast<std::int64_t>(size_bytes)}, borrow);
  }
  void expect_pattern(const Array& array, unsigned seed) const {
    const Array host = array.to_host().value();
    const std::vector<std::byte> expected = pattern(host.size_bytes(), seed);
    EXPECT_TRUE(std::equal(host.bytes().begin(), host.bytes().end(), expected.begin(), expected.end()));
  }
  void expect_imports(const std::string& reference, std::size_t size_bytes, unsigned seed) const {
    const Result<ImportedArray> imported = import(reference, size_bytes);
    ASSERT_TRUE(imported.has_value()) << imported.error().message();
    EXPECT_EQ(imported->path, ImportedArray::Path::kCopied);
    expect_pattern(imported->array, seed);
  }
  [[nodiscard]] std::int64_t opens() const { return stand_in_.calls("cuIpcOpenMemHandle_v2"); }

 private:
  testing::ManualClock clock_;
  testing::StandIn stand_in_;
  std::shared_ptr<GpuSystem> system_;
  std::unique_ptr<GpuTransport> transport_;
};

/// With its other process.
class TwoProcessTest : public IpcTest {
 protected:
  explicit TwoProcessTest(const GpuSystem::Options& options = {}) : IpcTest(options), agent_("agent") {}

  [[nodiscard]] testing::ChildProcess& agent() { return agent_; }
  [[nodiscard]] std::string ask(const std::string& line) { return agent_.ask(line); }

 private:
  testing::ChildProcess agent_;
};

}  // namespace tessera
