#include "rule_test.h"

#include <algorithm>
#include <iostream>

namespace tessera::driver_conformance {

void report_answer(const std::string& question, const std::string& answer) {
  std::cout << "ANSWER " << question << ": " << answer << '\n';
}

void report_answer(const std::string& question, Code code) {
  const char* name = nullptr;
  driver().cuGetErrorName(code, &name);
  report_answer(question, std::to_string(code) + " " + (name == nullptr ? "?" : name));
}

void RuleTest::SetUp() {
  ASSERT_EQ(driver().cuDevicePrimaryCtxRetain(&context_, 0), kSuccess);
  ASSERT_EQ(driver().cuCtxSetCurrent(context_), kSuccess);
}

void RuleTest::TearDown() {
  for (Address address : mappings_) {
    EXPECT_EQ(driver().cuIpcCloseMemHandle(address), kSuccess);
  }
  for (Address address : allocations_) {
    EXPECT_EQ(driver().cuMemFree_v2(address), kSuccess);
  }
  // The context is kept: to make it anew for each test costs a real driver half a second.
}

Address RuleTest::allocate(std::size_t size, unsigned char value) {
  Address address = 0;
  EXPECT_EQ(driver().cuMemAlloc_v2(&address, size), kSuccess);
  allocations_.push_back(address);
  fill(address, size, value);
  return address;
}

void RuleTest::free_now(Address address) {
  EXPECT_EQ(driver().cuMemFree_v2(address), kSuccess);
  std::erase(allocations_, address);
}

void RuleTest::fill(Address address, std::size_t size, unsigned char value) {
  EXPECT_EQ(driver().cuMemsetD8_v2(address, value, size), kSuccess);
  EXPECT_EQ(driver().cuCtxSynchronize(), kSuccess);
}

std::string RuleTest::describe(const Bytes64& bytes) {
  bool is_same = std::ranges::all_of(bytes, [&](unsigned char byte) { return byte == bytes[0]; });
  return is_same ? "all " + std::to_string(bytes[0]) : "mixed";
}

std::string RuleTest::look(Address address) {
  Bytes64 bytes{};
  Code code = driver().cuMemcpyDtoH_v2(bytes.data(), address, bytes.size());
  return code == kSuccess ? describe(bytes) : "error " + std::to_string(code);
}

std::size_t RuleTest::free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(driver().cuMemGetInfo_v2(&free, &total), kSuccess);
  EXPECT_LE(free, total);
  return free;
}

int RuleTest::attribute(int number) {
  int value = 0;
  EXPECT_EQ(driver().cuDeviceGetAttribute(&value, number, 0), kSuccess);
  return value;
}

RuleTest::Export RuleTest::export_from(const Peer& peer, std::size_t size, unsigned char value) {
  Reply allocated = peer.ask({.order = Order::kAllocate, .a = size});
  EXPECT_EQ(allocated.code, kSuccess);
  EXPECT_EQ(peer.ask({.order = Order::kFill, .a = allocated.value, .b = value, .c = size}).code, kSuccess);
  Reply exported = peer.ask({.order = Order::kExport, .a = allocated.value});
  EXPECT_EQ(exported.code, kSuccess);
  return {allocated.value, {exported.bytes}};
}

Address RuleTest::open(const Handle& handle) {
  Address address = 0;
  Code code = driver().cuIpcOpenMemHandle_v2(&address, handle, 1);
  EXPECT_EQ(code, kSuccess);
  if (code == kSuccess) {
    mappings_.push_back(address);
  }
  return address;
}

void RuleTest::close_now(Address address) {
  EXPECT_EQ(driver().cuIpcCloseMemHandle(address), kSuccess);
  mappings_.erase(std::ranges::find(mappings_, address));
}

}  // namespace tessera::driver_conformance
