// A fixture with the stand-in driver loaded and its GPUs listed.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "support/stand_in.h"
#include "tessera/cuda/device_memory.h"
#include "tessera/cuda/driver.h"
#include "tessera/cuda/driver_functions.h"
#include "tessera/cuda/gpu.h"

namespace tessera {

class StandInTest : public ::testing::Test {
 protected:
  StandInTest() {
    auto loaded = Driver::load(testing::stand_in_path());
    if (const auto* const unavailable = std::get_if<DriverUnavailable>(&loaded)) {
      ADD_FAILURE() << unavailable->sentence;
      std::abort();
    }
    driver_ = std::get<std::shared_ptr<const Driver>>(std::move(loaded));
    gpus_ = Gpu::list(driver_).value();
  }
  ~StandInTest() override {
    stand_in_.set_faults("");
    stand_in_.set_delay_us(0);
    gpus_.clear();
    EXPECT_EQ(stand_in_.counts().live_allocations, 0U);
    EXPECT_EQ(stand_in_.counts().live_mappings, 0U);
    EXPECT_EQ(stand_in_.counts().contexts, 0U);
  }

  [[nodiscard]] const std::shared_ptr<const Gpu>& gpu() const { return gpus_.front(); }
  [[nodiscard]] const testing::StandIn& stand_in() const { return stand_in_; }
  [[nodiscard]] const std::shared_ptr<const Driver>& driver() const { return driver_; }
  [[nodiscard]] const std::vector<std::shared_ptr<const Gpu>>& gpus() const { return gpus_; }
  void forget_gpus() { gpus_.clear(); }

  [[nodiscard]] DeviceMemory allocate(std::size_t size_bytes) const {
    return DeviceMemory::allocate(gpu(), size_bytes).value();
  }
  [[nodiscard]] std::vector<std::byte> bytes_at(std::uint64_t address, std::size_t size_bytes) const {
    std::vector<std::byte> bytes(size_bytes);
    EXPECT_TRUE(copy_to_host(*gpu(), bytes, address).has_value());
    return bytes;
  }
  /// What is there now: a non-blocking stream waits for no work of others.
  void read_at_once(std::span<std::byte> bytes, std::uint64_t address) const {
    const Result<ContextScope> scope = gpu()->enter();
    void* const stream = stand_in_.create_stream();
    EXPECT_EQ(driver_->functions().memcpy_to_host(bytes.data(), address, bytes.size(), stream), 0);
    EXPECT_EQ(driver_->functions().stream_synchronize(stream), 0);
    stand_in_.destroy_stream(stream);
  }
  static std::vector<std::byte> pattern(std::size_t size_bytes, unsigned seed = 1) {
    std::vector<std::byte> bytes(size_bytes);
    for (std::size_t i = 0; i != size_bytes; ++i) {
      bytes[i] = static_cast<std::byte>((i * 31 + i / 256 + std::size_t{seed} * 77) & 0xFFU);
    }
    return bytes;
  }

 private:
  testing::StandIn stand_in_;
  std::shared_ptr<const Driver> driver_;
  std::vector<std::shared_ptr<const Gpu>> gpus_;
};

}  // namespace tessera
