// What the tests of all rules share.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "driver_table.h"
#include "peer.h"

namespace tessera::driver_conformance {

inline constexpr Code kSuccess = 0;
inline constexpr Code kInvalidValue = 1;
inline constexpr Code kOutOfMemory = 2;
inline constexpr Code kNotInitialized = 3;
inline constexpr Code kInvalidDevice = 101;
inline constexpr Code kInvalidContext = 201;
inline constexpr std::size_t kPage = std::size_t{2} << 20;

/// Prints what this driver does where no rule says it: "ANSWER open after free: 400".
void report_answer(const std::string& question, const std::string& answer);
void report_answer(const std::string& question, Code code);

/// Runs something on a thread of its own, which has no context.
template <typename Body>
void on_new_thread(Body body) {
  std::thread(std::move(body)).join();
}

/// The primary context of device 0 is current for the length of a test; what the test allocates is freed after it.
class RuleTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Device memory, filled; freed at the end unless free_now() was called.
  Address allocate(std::size_t size, unsigned char value = 0);
  void free_now(Address address);
  static void fill(Address address, std::size_t size, unsigned char value);
  /// 64 bytes, as a string of their common value: "all 7", or "mixed".
  [[nodiscard]] static std::string look(Address address);
  [[nodiscard]] static std::string describe(const Bytes64& bytes);
  static std::size_t free_bytes();
  [[nodiscard]] static int attribute(int number);

  /// An allocation of a peer, with its handle.
  struct Export {
    Address address = 0;
    Handle handle{};
  };
  static Export export_from(const Peer& peer, std::size_t size, unsigned char value);
  /// Opens it here; closed at the end unless close_now() was called.
  Address open(const Handle& handle);
  void close_now(Address address);

 private:
  void* context_ = nullptr;
  std::vector<Address> allocations_;
  std::vector<Address> mappings_;
};

}  // namespace tessera::driver_conformance
