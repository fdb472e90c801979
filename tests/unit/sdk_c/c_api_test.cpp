// Runs the tests that are written in C, each as one of GoogleTest's, with the daemon that they call.
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "../cli/program.h"
#include "c_check.h"
#include "support/stand_in.h"
#include "support/temp_folder.h"

extern "C" void fail_check(const char* file, int line, const char* text) {
  ADD_FAILURE_AT(file, line) << text;
}

namespace tessera::testing {
namespace {

TEST(CValuesTest, ReadsScalarsAsTheirKind) {
  test_scalars();
}

TEST(CValuesTest, KeepsTextsWithTheirSize) {
  test_texts();
}

TEST(CValuesTest, KeepsItemsAndMembersInOrder) {
  test_lists_and_objects();
}

TEST(CValuesTest, TakesWhatIsPutIntoAnotherInAnyCase) {
  test_nested_building();
}

TEST(CValuesTest, ReleasesNull) {
  test_null_releases();
}

TEST(CArraysTest, CopiesHostMemoryInAndOut) {
  test_arrays();
}

TEST(CArraysTest, RefusesWhatIsNoArray) {
  test_array_errors();
}

TEST(CArraysTest, SharesDlpackTensorsBothWays) {
  test_dlpack();
}

TEST(CArraysTest, LeavesARefusedTensorToItsOwner) {
  test_dlpack_errors();
}

// One daemon for all tests, on the stand-in driver's machine.
class CClientTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    daemon_folder = std::make_unique<TempFolder>();
    const std::string path = daemon_folder->path().string();
    std::filesystem::create_directories(daemon_folder->path() / "in/vectoradd");
    // NOLINTNEXTLINE(concurrency-mt-unsafe): set before there are threads
    const std::string machine = std::getenv("TESSERA_STAND_IN_ROOT");
    const Environment environment{{"LD_LIBRARY_PATH", TESSERA_STAND_IN_FOLDER}, {"TESSERA_STAND_IN_ROOT", machine}};
    daemon = std::make_unique<ServerProcess>(
        Words{"vectoradd", "identity", "everything", "--port", "0", "--unix", path + "/socket", "--debug",
              "--gpu-transport", "cuda_ipc", "--input-path", path + "/in", "--output-path", path + "/out"},
        daemon_folder->path(), environment);
    daemon_url = "http://127.0.0.1:" + std::to_string(daemon->port());
  }
  static void TearDownTestSuite() {
    daemon.reset();
    daemon_folder.reset();
  }

  static const char* url() { return daemon_url.c_str(); }
  static std::string path_of(const std::string& name) { return (daemon_folder->path() / name).string(); }

 private:
  static inline std::unique_ptr<TempFolder> daemon_folder;
  static inline std::unique_ptr<ServerProcess> daemon;
  static inline std::string daemon_url;
};

TEST_F(CClientTest, Applies) {
  test_apply(url());
}

TEST_F(CClientTest, GoesByAUnixSocket) {
  test_unix_socket(path_of("socket").c_str());
}

TEST_F(CClientTest, AsksForGradients) {
  test_gradients(url());
}

TEST_F(CClientTest, AsksForHealthShapesAndTests) {
  test_plain_endpoints(url());
}

TEST_F(CClientTest, ReadsWhatTheServerSaysOfItself) {
  test_documents(url());
}

TEST_F(CClientTest, AsksForEncodings) {
  test_encodings(url());
}

TEST_F(CClientTest, ExchangesFiles) {
  test_files(url(), path_of("in/vectoradd").c_str(), path_of("out/vectoradd").c_str());
}

TEST_F(CClientTest, SaysWhereInputsAreRefused) {
  test_refusals(url());
}

TEST_F(CClientTest, TellsErrorsApart) {
  test_client_errors(url());
}

TEST_F(CClientTest, TakesOptionsOfOtherVersions) {
  test_options((std::string(url()) + "/vectoradd").c_str());
}

TEST_F(CClientTest, TakesOptionsThatEndBeforeTheNewest) {
  test_shorter_options((std::string(url()) + "/vectoradd").c_str());
}

TEST_F(CClientTest, IsCancelled) {
  test_cancellation(url());
}

TEST_F(CClientTest, TellsOfItsProgress) {
  test_progress(url());
}

// With GPU memory of this process that holds the floats 0 to 5.
class CClientGpuTest : public CClientTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(driver_.call<int(unsigned)>("cuInit")(0), 0);
    void* context = nullptr;
    ASSERT_EQ(driver_.call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 0), 0);
    ASSERT_EQ(driver_.call<int(void*)>("cuCtxSetCurrent")(context), 0);
    const float elements[] = {0, 1, 2, 3, 4, 5};
    unsigned long long address = 0;
    ASSERT_EQ(driver_.call<int(unsigned long long*, std::size_t)>("cuMemAlloc_v2")(&address, sizeof elements), 0);
    ASSERT_EQ(driver_.call<int(unsigned long long, const void*, std::size_t)>("cuMemcpyHtoD_v2")(address, elements,
                                                                                                 sizeof elements),
              0);
    address_ = address;
  }
  void TearDown() override { driver_.free(address_); }

  [[nodiscard]] std::uint64_t address() const { return address_; }
  // How many responses the daemon keeps GPU memory for.
  [[nodiscard]] static std::string leases() {
    const httplib::Result answer = httplib::Client(url()).Get("/leases");
    const std::string text = answer ? answer->body : "";
    const std::size_t begin = text.find("\"total\":");
    if (begin == std::string::npos) {
      return "no answer: " + text;
    }
    const std::size_t number = begin + std::string_view("\"total\":").size();
    return text.substr(number, text.find_first_of(",}", number) - number);
  }

 private:
  const StandIn driver_;
  std::uint64_t address_ = 0;
};

TEST_F(CClientGpuTest, HandsArraysOver) {
  test_gpu_arrays(url(), address());
}

TEST_F(CClientGpuTest, TellsTheServerWhatItIsDoneWithAfterItsIdleTime) {
  test_idle_time(url(), address(), 20, [] {
    for (int i = 0; i != 500 && leases() != "0"; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(leases(), "0");
  });
}

TEST_F(CClientGpuTest, DoesNotTellItBefore) {
  test_idle_time(url(), address(), 3'600'000, [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(leases(), "1");
  });
  EXPECT_EQ(leases(), "0");
}

}  // namespace
}  // namespace tessera::testing

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  const tessera::testing::StandInMachine machine;
  // From here on, who asks for libcuda.so.1 gets this one.
  const tessera::testing::StandIn driver;
  return RUN_ALL_TESTS();
}
