// Legacy IPC between two processes.
#include <chrono>

#include "rule_test.h"

namespace tessera::driver_conformance {
namespace {

constexpr std::size_t kExportedBytes = 2 * kPage;

class IpcRules : public RuleTest {
 protected:
  static Handle handle_of(Address address) {
    Handle handle{};
    EXPECT_EQ(driver().cuIpcGetMemHandle(&handle, address), kSuccess);
    return handle;
  }
  static Code try_open(const Handle& handle) {
    Address address = 0;
    Code code = driver().cuIpcOpenMemHandle_v2(&address, handle, 1);
    if (code == kSuccess) {
      driver().cuIpcCloseMemHandle(address);
    }
    return code;
  }
  // What a dead process had comes back soon, not at once.
  static bool has_free_bytes_soon(std::size_t bytes) {
    for (int round = 0; round < 500; ++round) {
      if (free_bytes() + kPage >= bytes) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
};

// A peer that has its context already: to make one costs a real driver half a second.
class IpcRulesWithPeer : public IpcRules {
 protected:
  static void SetUpTestSuite() { shared = new Peer; }
  static void TearDownTestSuite() { delete shared; }
  void SetUp() override {
    IpcRules::SetUp();
    if (!is_started) {
      ASSERT_EQ(shared->start(), kSuccess);
      is_started = true;
    }
  }
  [[nodiscard]] static Peer& peer() { return *shared; }

 private:
  static inline Peer* shared = nullptr;
  static inline bool is_started = false;
};

TEST_F(IpcRules, HandleOfAnAllocationStaysTheSame) {
  Address address = allocate(kExportedBytes);
  EXPECT_EQ(handle_of(address).bytes, handle_of(address).bytes);
}

TEST_F(IpcRules, PointerInsideHasTheHandleOfTheAllocation) {
  Address address = allocate(kExportedBytes);
  EXPECT_EQ(handle_of(address + 4096).bytes, handle_of(address).bytes);
}

TEST_F(IpcRules, NewAllocationHasANewHandle) {
  Address first = allocate(kExportedBytes);
  Handle old = handle_of(first);
  free_now(first);
  EXPECT_NE(handle_of(allocate(kExportedBytes)).bytes, old.bytes);
}

TEST_F(IpcRules, NoAllocationHasNoHandle) {
  Handle handle{};
  EXPECT_EQ(driver().cuIpcGetMemHandle(&handle, 0), kInvalidValue);
}

TEST_F(IpcRules, OwnHandleDoesNotOpen) {
  EXPECT_EQ(try_open(handle_of(allocate(kExportedBytes))), kInvalidContext);
}

TEST_F(IpcRules, AnyBytesDoNotOpen) {
  Handle zeros{};
  EXPECT_NE(try_open(zeros), kSuccess);
  report_answer("open a handle of zeros", try_open(zeros));
  Handle some{};
  some.bytes.fill(0xa5);
  EXPECT_NE(try_open(some), kSuccess);
  report_answer("open a handle of any bytes", try_open(some));
}

TEST_F(IpcRulesWithPeer, ImporterSeesTheBytesOfTheExporter) {
  Export exported = export_from(peer(), kExportedBytes, 5);
  Address address = open(exported.handle);
  EXPECT_EQ(look(address), "all 5");
  peer().ask({.order = Order::kFill, .a = exported.address, .b = 6, .c = kExportedBytes});
  EXPECT_EQ(look(address + kExportedBytes - 64), "all 6");
  fill(address, 64, 7);
  EXPECT_EQ(describe(peer().ask({.order = Order::kRead, .a = exported.address}).bytes), "all 7");
}

TEST_F(IpcRulesWithPeer, BytesLieAtTheirOffset) {
  Export exported = export_from(peer(), kExportedBytes, 1);
  peer().ask({.order = Order::kFill, .a = exported.address + 8192, .b = 2, .c = 64});
  Reply inside = peer().ask({.order = Order::kExport, .a = exported.address + 8192});
  Address address = open({inside.bytes});
  EXPECT_EQ(look(address), "all 1");
  EXPECT_EQ(look(address + 8192), "all 2");
}

TEST_F(IpcRulesWithPeer, SmallAllocationOpensAtItsBegin) {
  Export first = export_from(peer(), 256, 1);
  Export second = export_from(peer(), 256, 2);
  EXPECT_EQ(look(open(first.handle)), "all 1");
  EXPECT_EQ(look(open(second.handle)), "all 2");
}

TEST_F(IpcRulesWithPeer, SecondOpenIsCounted) {
  Export exported = export_from(peer(), kExportedBytes, 5);
  Address first = open(exported.handle);
  Address second = open(exported.handle);
  EXPECT_EQ(second, first);
  close_now(second);
  EXPECT_EQ(look(first), "all 5");
  close_now(first);
  EXPECT_NE(look(first), "all 5");
}

TEST_F(IpcRulesWithPeer, UnknownPointersCannotBeClosed) {
  Address own = allocate(kExportedBytes);
  EXPECT_EQ(driver().cuIpcCloseMemHandle(0), kInvalidValue);
  EXPECT_EQ(driver().cuIpcCloseMemHandle(own), kInvalidValue);
}

TEST_F(IpcRulesWithPeer, RangeOfAnImportIsTheAllocation) {
  Address address = open(export_from(peer(), kExportedBytes, 5).handle);
  Address base = 0;
  std::size_t size = 0;
  EXPECT_EQ(driver().cuMemGetAddressRange_v2(&base, &size, address + kExportedBytes - 1), kSuccess);
  EXPECT_EQ(base, address);
  EXPECT_EQ(size, kExportedBytes);
}

TEST_F(IpcRulesWithPeer, ImporterKeepsWhatTheExporterFrees) {
  constexpr std::size_t kLarge = 8 * kPage;
  std::size_t before = free_bytes();
  Export exported = export_from(peer(), kLarge, 5);
  Address address = open(exported.handle);
  EXPECT_EQ(peer().ask({.order = Order::kFree, .a = exported.address}).code, kSuccess);
  EXPECT_EQ(look(address), "all 5");
  EXPECT_LE(free_bytes() + kLarge, before);
  report_answer("open after the exporter freed, with an open mapping", try_open(exported.handle));
  close_now(address);
  EXPECT_GE(free_bytes() + kPage, before);
  report_answer("open after the exporter freed", try_open(exported.handle));
}

TEST_F(IpcRulesWithPeer, NewHandleBesideAnOldMapping) {
  Export old = export_from(peer(), kExportedBytes, 5);
  Address address = open(old.handle);
  EXPECT_EQ(peer().ask({.order = Order::kFree, .a = old.address}).code, kSuccess);
  Export young = export_from(peer(), kExportedBytes, 6);
  report_answer(young.address == old.address ? "open a new allocation at the address of one that is still mapped"
                                             : "open a new allocation at another address",
                try_open(young.handle));
  close_now(address);
  EXPECT_EQ(look(open(young.handle)), "all 6");
}

TEST_F(IpcRulesWithPeer, ImportedMemoryExportedAgain) {
  Address address = open(export_from(peer(), kExportedBytes, 5).handle);
  Handle handle{};
  report_answer("handle of an imported pointer", driver().cuIpcGetMemHandle(&handle, address));
}

TEST_F(IpcRulesWithPeer, OtherDeviceNeedsPeerAccess) {
  int count = 0;
  ASSERT_EQ(driver().cuDeviceGetCount(&count), kSuccess);
  if (count < 2) {
    GTEST_SKIP() << "needs two GPUs";
  }
  Export exported = export_from(peer(), kExportedBytes, 5);
  int can_access = 0;
  ASSERT_EQ(driver().cuDeviceCanAccessPeer(&can_access, 1, 0), kSuccess);
  on_new_thread([&] {
    void* context = nullptr;
    ASSERT_EQ(driver().cuDevicePrimaryCtxRetain(&context, 1), kSuccess);
    ASSERT_EQ(driver().cuCtxSetCurrent(context), kSuccess);
    Code code = try_open(exported.handle);
    EXPECT_EQ(code == kSuccess, can_access != 0) << code;
    EXPECT_EQ(driver().cuDevicePrimaryCtxRelease_v2(1), kSuccess);
  });
}

TEST_F(IpcRules, ImporterKeepsWhatADeadExporterHad) {
  Peer peer;
  ASSERT_EQ(peer.start(), kSuccess);
  Export exported = export_from(peer, kExportedBytes, 5);
  Address address = open(exported.handle);
  peer.kill();
  free_bytes();
  EXPECT_EQ(look(address), "all 5");
  report_answer("open after the exporter died, with an open mapping", try_open(exported.handle));
  close_now(address);
  report_answer("open after the exporter died", try_open(exported.handle));
}

TEST_F(IpcRules, MemoryOfADeadProcessComesBack) {
  std::size_t before = free_bytes();
  Peer peer;
  ASSERT_EQ(peer.start(), kSuccess);
  export_from(peer, kExportedBytes, 5);
  EXPECT_EQ(peer.ask({.order = Order::kAllocate, .a = 32 * kPage}).code, kSuccess);
  EXPECT_LE(free_bytes() + 32 * kPage, before);
  peer.kill();
  EXPECT_TRUE(has_free_bytes_soon(before));
}

TEST_F(IpcRules, DeadImporterHarmsNobody) {
  Address address = allocate(kExportedBytes, 5);
  Peer peer;
  ASSERT_EQ(peer.start(), kSuccess);
  Reply opened = peer.ask({.order = Order::kOpen, .bytes = handle_of(address).bytes});
  ASSERT_EQ(opened.code, kSuccess);
  EXPECT_EQ(describe(peer.ask({.order = Order::kRead, .a = opened.value}).bytes), "all 5");
  peer.kill();
  EXPECT_EQ(look(address), "all 5");
}

TEST_F(IpcRules, EqualPidsOfTwoNamespacesAreTakenForOne) {
  Peer exporter({.environment = {}, .has_own_pid_namespace = true});
  Peer importer({.environment = {}, .has_own_pid_namespace = true});
  if (!exporter.is_running() || !importer.is_running()) {
    GTEST_SKIP() << "PID namespaces are not allowed here";
  }
  ASSERT_EQ(exporter.ask({.order = Order::kPid}).value, importer.ask({.order = Order::kPid}).value);
  ASSERT_EQ(exporter.start(), kSuccess);
  ASSERT_EQ(importer.start(), kSuccess);
  Export exported = export_from(exporter, kExportedBytes, 5);
  Code code = importer.ask({.order = Order::kOpen, .bytes = exported.handle.bytes}).code;
  EXPECT_NE(code, kSuccess);
  report_answer("open between equal pids of two namespaces", code);
}

}  // namespace
}  // namespace tessera::driver_conformance
