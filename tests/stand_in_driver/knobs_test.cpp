// What TESSERA_STAND_IN_* and the control functions change. Run on the stand-in, through driver_conformance's peers.
#include <dlfcn.h>

#include "rule_test.h"
#include "tessera/stand_in/control.h"

namespace tessera::driver_conformance {
namespace {

constexpr std::size_t kSize = kPage;

class StandInKnobs : public RuleTest {
 protected:
  static Peer::Options with(std::initializer_list<std::string> knobs) {
    Peer::Options options;
    for (const std::string& knob : knobs) {
      options.environment.push_back(knob.starts_with("CUDA") ? knob : "TESSERA_STAND_IN_" + knob);
    }
    return options;
  }
  static Code allocate_in(const Peer& peer) { return peer.ask({.order = Order::kAllocate, .a = kSize}).code; }
  static Code open_in(const Peer& peer, const Handle& handle) {
    return peer.ask({.order = Order::kOpen, .bytes = handle.bytes}).code;
  }
  static Handle handle_of(Address address) {
    Handle handle{};
    EXPECT_EQ(driver().cuIpcGetMemHandle(&handle, address), kSuccess);
    return handle;
  }
  template <typename Function>
  static Function* control(const char* name) {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    auto* function = reinterpret_cast<Function*>(dlsym(library, name));
    dlclose(library);
    return function;
  }
  static TesseraStandInCounts counts() {
    TesseraStandInCounts counts{};
    EXPECT_EQ(control<decltype(tessera_stand_in_counts)>("tessera_stand_in_counts")(0, &counts), 0);
    return counts;
  }
};

TEST_F(StandInKnobs, CallFailsThatWasNamed) {
  Peer peer(with({"FAULTS=cuMemAlloc_v2:2:2,cuIpcGetMemHandle:*:801"}));
  ASSERT_EQ(peer.start(), kSuccess);
  EXPECT_EQ(allocate_in(peer), kSuccess);
  EXPECT_EQ(allocate_in(peer), kOutOfMemory);
  EXPECT_EQ(allocate_in(peer), kSuccess);
  EXPECT_EQ(peer.ask({.order = Order::kExport, .a = 1}).code, 801);
}

TEST_F(StandInKnobs, AllLaterCallsFail) {
  Peer peer(with({"FAULTS=cuMemAlloc_v2:2+:2"}));
  ASSERT_EQ(peer.start(), kSuccess);
  EXPECT_EQ(allocate_in(peer), kSuccess);
  EXPECT_EQ(allocate_in(peer), kOutOfMemory);
  EXPECT_EQ(allocate_in(peer), kOutOfMemory);
}

TEST_F(StandInKnobs, StickyErrorIsThatOfTheContext) {
  Peer peer(with({"FAULTS=cuMemsetD8_v2:1:700!"}));
  ASSERT_EQ(peer.start(), kSuccess);
  EXPECT_EQ(peer.ask({.order = Order::kFill, .a = 1, .b = 1, .c = 1}).code, 700);
  EXPECT_EQ(allocate_in(peer), 700);
}

TEST_F(StandInKnobs, ProcessDiesBeforeOrAfterACall) {
  std::size_t before = free_bytes();
  for (const char* when : {"before", "after"}) {
    Peer peer(with({std::string("CRASH=cuMemAlloc_v2:2:") + when}));
    ASSERT_EQ(peer.start(), kSuccess);
    EXPECT_EQ(allocate_in(peer), kSuccess);
    EXPECT_EQ(allocate_in(peer), -1);
  }
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(StandInKnobs, ProcessDiesAtACallOfAnyName) {
  // cuInit, cuDevicePrimaryCtxRetain, cuCtxSetCurrent, cuMemAlloc.
  Peer peer(with({"CRASH=*:4:before"}));
  ASSERT_EQ(peer.start(), kSuccess);
  EXPECT_EQ(allocate_in(peer), -1);
}

TEST_F(StandInKnobs, OldDriverOpensAHandleOnce) {
  Handle handle = handle_of(allocate(kSize));
  Peer peer(with({"VERSION=11000"}));
  ASSERT_EQ(peer.start(), kSuccess);
  EXPECT_EQ(open_in(peer, handle), kSuccess);
  EXPECT_EQ(open_in(peer, handle), 208);
}

TEST_F(StandInKnobs, MemoryWithoutPeerAccessDoesNotOpen) {
  Handle handle = handle_of(allocate(kSize));
  Peer reaching;
  ASSERT_EQ(reaching.start(1), kSuccess);
  EXPECT_EQ(open_in(reaching, handle), kSuccess);
  Peer apart(with({"P2P=none"}));
  ASSERT_EQ(apart.start(1), kSuccess);
  EXPECT_EQ(open_in(apart, handle), 217);
}

TEST_F(StandInKnobs, MemoryOfAHiddenDeviceDoesNotOpen) {
  Handle handle = handle_of(allocate(kSize));
  Peer peer(with({"CUDA_VISIBLE_DEVICES=1", "HIDDEN_CODE=205"}));
  ASSERT_EQ(peer.start(), kSuccess);
  EXPECT_EQ(open_in(peer, handle), 205);
}

TEST_F(StandInKnobs, MigInstancesDoNotReachEachOther) {
  Peer exporter(with({"MIG=0=2"}));
  ASSERT_EQ(exporter.start(), kSuccess);
  EXPECT_EQ(exporter.ask({.order = Order::kDeviceCount}).value, 1U);
  Export exported = export_from(exporter, kSize, 1);
  Peer same(with({"MIG=0=2", "CUDA_VISIBLE_DEVICES=0"}));
  ASSERT_EQ(same.start(), kSuccess);
  EXPECT_EQ(open_in(same, exported.handle), kSuccess);
  Peer other(with({"MIG=0=2", "CUDA_VISIBLE_DEVICES=1", "MIG_CODE=801"}));
  ASSERT_EQ(other.start(), kSuccess);
  EXPECT_NE(other.ask({.order = Order::kUuid}).bytes, same.ask({.order = Order::kUuid}).bytes);
  EXPECT_EQ(open_in(other, exported.handle), 801);
}

TEST_F(StandInKnobs, FreedMemoryIsPoisoned) {
  Peer peer(with({"POISON=221"}));
  ASSERT_EQ(peer.start(), kSuccess);
  Export exported = export_from(peer, kSize, 1);
  Address address = open(exported.handle);
  EXPECT_EQ(look(address), "all 1");
  EXPECT_EQ(peer.ask({.order = Order::kFree, .a = exported.address}).code, kSuccess);
  EXPECT_EQ(look(address), "all 221");
}

TEST_F(StandInKnobs, CodeOfAFreedHandleIsChosen) {
  Address address = allocate(kSize);
  Handle handle = handle_of(address);
  free_now(address);
  Peer peer(with({"FREED_CODE=205"}));
  ASSERT_EQ(peer.start(), kSuccess);
  EXPECT_EQ(open_in(peer, handle), 205);
}

TEST_F(StandInKnobs, ProhibitedDeviceHasNoContext) {
  Peer peer(with({"COMPUTE_MODE=2"}));
  EXPECT_EQ(peer.start(), 999);
}

TEST_F(StandInKnobs, StubAnswersOneCode) {
  Peer peer(with({"STUB=1"}));
  EXPECT_EQ(peer.ask({.order = Order::kInit}).code, 34);
  EXPECT_EQ(allocate_in(peer), 34);
}

TEST_F(StandInKnobs, MachineHasTheDevicesItIsGiven) {
  Peer four(with({"DEVICES=4"}));
  ASSERT_EQ(four.ask({.order = Order::kInit}).code, kSuccess);
  EXPECT_EQ(four.ask({.order = Order::kDeviceCount}).value, 4U);
  Peer none(with({"DEVICES=0"}));
  EXPECT_EQ(none.ask({.order = Order::kInit}).code, 100);
}

TEST_F(StandInKnobs, ContextsTakeMemory) {
  // Each process counts the contexts of all.
  Peer peer(with({"CONTEXT_MIB=500", "MEMORY_MIB=1400"}));
  ASSERT_EQ(peer.start(), kSuccess);
  EXPECT_EQ(peer.ask({.order = Order::kAllocate, .a = std::size_t{300} << 20}).code, kSuccess);
  EXPECT_EQ(peer.ask({.order = Order::kAllocate, .a = std::size_t{300} << 20}).code, kOutOfMemory);
}

TEST_F(StandInKnobs, AddressesRunOut) {
  Handle handle = handle_of(allocate(4 * kSize));
  Peer peer(with({"ADDRESS_LIMIT_MIB=6"}));
  ASSERT_EQ(peer.start(), kSuccess);
  EXPECT_EQ(open_in(peer, handle), kOutOfMemory);
}

TEST_F(StandInKnobs, EventsOfAnotherRootAreNotFound) {
  void* event = nullptr;
  Handle handle{};
  ASSERT_EQ(driver().cuEventCreate(&event, 6), kSuccess);
  ASSERT_EQ(driver().cuIpcGetEventHandle(&handle, event), kSuccess);
  Peer near;
  Peer far(with({"EVENT_ROOT=" + testing::TempDir() + "no_events_here"}));
  ASSERT_EQ(near.start(), kSuccess);
  ASSERT_EQ(far.start(), kSuccess);
  EXPECT_EQ(near.ask({.order = Order::kOpenEvent, .bytes = handle.bytes}).code, kSuccess);
  EXPECT_EQ(far.ask({.order = Order::kOpenEvent, .bytes = handle.bytes}).code, 400);
  EXPECT_EQ(driver().cuEventDestroy_v2(event), kSuccess);
}

TEST_F(StandInKnobs, ReaderThatDoesNotWaitSeesOldBytes) {
  Address source = allocate(kSize, 2);
  Address target = allocate(kSize, 1);
  Peer peer;
  ASSERT_EQ(peer.start(), kSuccess);
  Reply opened = peer.ask({.order = Order::kOpen, .bytes = handle_of(target).bytes});
  ASSERT_EQ(opened.code, kSuccess);
  auto* set_delay = control<decltype(tessera_stand_in_set_delay_us)>("tessera_stand_in_set_delay_us");
  // An hour: only who waits for the work gets it.
  set_delay(3'600'000'000);
  EXPECT_EQ(driver().cuMemcpyDtoD_v2(target, source, kSize), kSuccess);
  EXPECT_EQ(driver().cuStreamQuery(nullptr), 600);
  EXPECT_EQ(describe(peer.ask({.order = Order::kRead, .a = opened.value}).bytes), "all 1");
  EXPECT_EQ(driver().cuStreamSynchronize(nullptr), kSuccess);
  EXPECT_EQ(describe(peer.ask({.order = Order::kRead, .a = opened.value}).bytes), "all 2");
  set_delay(0);
}

TEST_F(StandInKnobs, CountsAllocationsMappingsAndCalls) {
  auto* calls = control<decltype(tessera_stand_in_calls)>("tessera_stand_in_calls");
  TesseraStandInCounts before = counts();
  std::int64_t opens = calls(0, "cuIpcOpenMemHandle_v2");
  Peer peer;
  ASSERT_EQ(peer.start(), kSuccess);
  Address own = allocate(100);
  Address address = open(export_from(peer, kSize, 1).handle);
  TesseraStandInCounts now = counts();
  EXPECT_EQ(now.live_allocations, before.live_allocations + 1);
  EXPECT_EQ(now.allocated_bytes, before.allocated_bytes + 100);
  EXPECT_EQ(now.live_mappings, before.live_mappings + 1);
  EXPECT_EQ(now.mapped_bytes, before.mapped_bytes + kSize);
  EXPECT_EQ(calls(0, "cuIpcOpenMemHandle_v2"), opens + 1);
  int pid = static_cast<int>(peer.ask({.order = Order::kPid}).value);
  EXPECT_EQ(calls(pid, "cuIpcGetMemHandle"), 1);
  EXPECT_EQ(calls(pid, "cuNoSuchCall"), -1);
  close_now(address);
  free_now(own);
  EXPECT_EQ(counts().live_mappings, before.live_mappings);
  EXPECT_EQ(counts().live_allocations, before.live_allocations);
}

TEST_F(StandInKnobs, FaultsAreSetFromWithin) {
  auto* calls = control<decltype(tessera_stand_in_calls)>("tessera_stand_in_calls");
  auto* set_faults = control<decltype(tessera_stand_in_set_faults)>("tessera_stand_in_set_faults");
  set_faults(("cuMemAlloc_v2:" + std::to_string(calls(0, "cuMemAlloc_v2") + 1) + ":2").c_str());
  Address address = 0;
  EXPECT_EQ(driver().cuMemAlloc_v2(&address, kSize), kOutOfMemory);
  allocate(kSize);
  set_faults("");
}

}  // namespace
}  // namespace tessera::driver_conformance
