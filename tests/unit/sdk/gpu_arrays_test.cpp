// GPU arrays between a client and a daemon in another process, on the stand-in driver.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "client_errors.h"
#include "http_client.h"
#include "response_value.h"
#include "scripted_server.h"
#include "support/child_process.h"
#include "support/stand_in.h"
#include "tessera/base/clock.h"
#include "tessera/ipc/gpu_system.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using testing::ChildProcess;
using ::testing::ElementsAre;
using testing::expect_error;
using ::testing::HasSubstr;
using testing::ok_response;
using testing::RecordedRequest;
using testing::response_of;
using testing::ScriptedServer;
using ::testing::SizeIs;
using testing::Warnings;

class GpuArraysTest : public ::testing::Test {
 protected:
  ~GpuArraysTest() override {
    stand_in_.set_faults("");
    gpus_.reset();
    EXPECT_EQ(stand_in_.counts().live_allocations, 0U);
    EXPECT_EQ(stand_in_.counts().live_mappings, 0U);
  }

  [[nodiscard]] ClientOptions options() {
    ClientOptions options;
    options.gpus = gpus_;
    options.warn = warnings_.collector();
    return options;
  }
  [[nodiscard]] Array on_gpu(std::initializer_list<float> values) const {
    return gpus_->to_device(Array::of<float>(values), gpus_->gpus().front()->uuid()).value();
  }
  [[nodiscard]] static std::vector<float> values_of(const Array& array) {
    const Array host = array.to_host().value();
    return {host.values<float>().begin(), host.values<float>().end()};
  }

  SystemClock clock_;
  testing::StandIn stand_in_;
  std::shared_ptr<GpuSystem> gpus_ =
      GpuSystem::open({.driver_library = testing::stand_in_path(), .pool_fraction = 0}, clock_);
  Warnings warnings_;
};

// With a daemon that serves `identity`.
class GpuDaemonTest : public GpuArraysTest {
 protected:
  [[nodiscard]] Tesseract connect(ClientOptions options) {
    const Tesseract client = Tesseract::from_url(url_, std::move(options));
    return client.with_encoding({.output_format = "json+base64", .gpu_transport = client.resolve_gpu_transport()});
  }
  // What the daemon still keeps for its clients.
  [[nodiscard]] std::int64_t leases() const {
    HttpClient client(ServerAddress::parse(url_), 1'000'000);
    HttpRequest request;
    request.method = "GET";
    request.target = "/leases";
    const HttpResponse response = client.exchange(request, CallLimits({}, std::nullopt, {}), {});
    return read_plain_value(response.text()).object()["total"].integer();
  }
  [[nodiscard]] bool has_no_lease_soon() const {
    for (int i = 0; i != 1000 && leases() != 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return leases() == 0;
  }

  ChildProcess daemon_{"serve", {{"TESSERA_TEST_MODULES", "examples/identity"}}};
  std::string url_ = daemon_.receive();
};

TEST_F(GpuDaemonTest, ResolvesToCudaIpc) {
  const Tesseract client = Tesseract::from_url(url_, options());
  EXPECT_EQ(client.resolve_gpu_transport(), "cuda_ipc");
  const std::int64_t opens = stand_in_.calls("cuIpcOpenMemHandle_v2");
  EXPECT_EQ(client.resolve_gpu_transport(), "cuda_ipc");
  EXPECT_EQ(client.with_encoding({.gpu_transport = "cuda_ipc"}).resolve_gpu_transport(), "cuda_ipc");
  EXPECT_EQ(client.with_encoding({.gpu_transport = "none"}).resolve_gpu_transport(), "none");
  EXPECT_EQ(stand_in_.calls("cuIpcOpenMemHandle_v2"), opens);
  EXPECT_THAT(warnings_.sentences(), SizeIs(0));
}

TEST_F(GpuDaemonTest, HandsArraysOverBothWays) {
  const Tesseract client = connect(options());
  const Value result = client.apply({{"x", on_gpu({1.5F, -2.0F, 3.0F})}});
  const Array& x = result.object()["x"].array();
  EXPECT_TRUE(x.is_on_device());
  EXPECT_THAT(values_of(x), ElementsAre(1.5F, -2.0F, 3.0F));
  EXPECT_EQ(gpus_->counters().imports_copied, 2U);  // one is the check's
  EXPECT_EQ(gpus_->counters().imports_borrowed, 0U);
  EXPECT_TRUE(has_no_lease_soon());
}

TEST_F(GpuDaemonTest, HandsEmptyArraysOver) {
  const Tesseract client = connect(options());
  const Array empty = gpus_->allocate(gpus_->gpus().front()->uuid(), DType::kFloat32, {0, 3}).value();
  const Value result = client.apply({{"x", empty}});
  EXPECT_EQ(result.object()["x"].array().shape(), (Shape{0, 3}));
}

TEST_F(GpuDaemonTest, KeepsCopiesAfterTheDaemonIsGone) {
  const Value result = connect(options()).apply({{"x", on_gpu({1.0F})}});
  EXPECT_EQ(daemon_.finish(), 0);
  EXPECT_THAT(values_of(result.object()["x"].array()), ElementsAre(1.0F));
}

TEST_F(GpuDaemonTest, BorrowsTheDaemonsMemory) {
  ClientOptions borrowing = options();
  borrowing.borrows_gpu_arrays = true;
  const Tesseract client = connect(borrowing);
  const Value result = client.apply({{"x", on_gpu({4.0F, 5.0F})}});
  EXPECT_EQ(gpus_->counters().imports_borrowed, 1U);
  EXPECT_THAT(values_of(result.object()["x"].array()), ElementsAre(4.0F, 5.0F));
}

TEST_F(GpuDaemonTest, GivesBorrowedMemoryBackWithTheLastCopy) {
  ClientOptions borrowing = options();
  borrowing.borrows_gpu_arrays = true;
  borrowing.exports_idle_time = std::chrono::hours(1);
  const Tesseract client = connect(borrowing);
  std::optional<Value> result = client.apply({{"x", on_gpu({4.0F, 5.0F})}});
  std::optional<Array> copy = result->object()["x"].array();
  result.reset();
  static_cast<void>(client.health());
  EXPECT_EQ(leases(), 1);
  copy.reset();
  EXPECT_EQ(leases(), 1);
  static_cast<void>(client.health());
  EXPECT_EQ(leases(), 0);
}

TEST_F(GpuDaemonTest, GivesBorrowedMemoryBackThatOutlivesTheClient) {
  ClientOptions borrowing = options();
  borrowing.borrows_gpu_arrays = true;
  std::optional<Value> result = connect(borrowing).apply({{"x", on_gpu({4.0F, 5.0F})}});
  EXPECT_EQ(leases(), 1);
  EXPECT_THAT(values_of(result->object()["x"].array()), ElementsAre(4.0F, 5.0F));
  result.reset();
  EXPECT_TRUE(has_no_lease_soon());
}

TEST_F(GpuDaemonTest, SendsWhatItBorrowedOn) {
  ClientOptions borrowing = options();
  borrowing.borrows_gpu_arrays = true;
  const Tesseract client = connect(borrowing);
  const Value first = client.apply({{"x", on_gpu({4.0F, 5.0F})}});
  const Value second = client.apply(first.object());
  EXPECT_THAT(values_of(second.object()["x"].array()), ElementsAre(4.0F, 5.0F));
}

TEST_F(GpuDaemonTest, CopiesToTheHostWithoutATransport) {
  const Tesseract client = Tesseract::from_url(url_, options()).with_encoding({.output_format = "json+base64"});
  const Value result = client.apply({{"x", on_gpu({1.0F, 2.0F})}});
  EXPECT_FALSE(result.object()["x"].array().is_on_device());
  EXPECT_THAT(values_of(result.object()["x"].array()), ElementsAre(1.0F, 2.0F));
}

TEST_F(GpuDaemonTest, FallsBackWithOneWarningIfTheCheckFails) {
  const Tesseract client = Tesseract::from_url(url_, options());
  static_cast<void>(client.server_capabilities());
  stand_in_.fail_next("cuIpcOpenMemHandle_v2", 217);
  EXPECT_EQ(client.resolve_gpu_transport(), "none");
  EXPECT_EQ(client.resolve_gpu_transport(), "none");
  ASSERT_THAT(warnings_.sentences(), SizeIs(1));
  EXPECT_THAT(warnings_.sentences()[0], HasSubstr("The Tesseract at " + url_ +
                                                  " offers gpu_transport='cuda_ipc', but it does not work from this "
                                                  "process, so GPU arrays are copied to the host instead: this "
                                                  "process could not read GPU memory exported by the Tesseract"));
  EXPECT_THAT(warnings_.sentences()[0], HasSubstr("(no_peer_access)"));
  expect_error(Kind::kGpu, "gpu_transport='cuda_ipc' was requested, but it does not work", [&client] {
    static_cast<void>(client.with_encoding({.gpu_transport = "cuda_ipc"}).resolve_gpu_transport());
  });
  EXPECT_THAT(warnings_.sentences(), SizeIs(1));
}

TEST_F(GpuDaemonTest, FallsBackWithoutADriver) {
  ClientOptions blind = options();
  blind.gpus = GpuSystem::open({.driver_library = "/no/such/libcuda.so.1"}, clock_);
  const Tesseract client = Tesseract::from_url(url_, blind);
  EXPECT_EQ(client.resolve_gpu_transport(), "none");
  ASSERT_THAT(warnings_.sentences(), SizeIs(1));
  EXPECT_THAT(warnings_.sentences()[0], HasSubstr("this process could not export GPU memory: "));
  EXPECT_THAT(warnings_.sentences()[0], HasSubstr("(no_driver)"));
  expect_error(Kind::kGpu, "Request gpu_transport='none' to copy GPU arrays to the host", [&client] {
    static_cast<void>(client.with_encoding({.gpu_transport = "cuda_ipc"}).resolve_gpu_transport());
  });
}

// Runs work in a forked child, which may not take longer than ten seconds; whether it gave true.
template <class Work>
bool holds_in_a_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    bool holds = false;
    try {
      holds = work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    ::_exit(holds ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(GpuDaemonTest, LeavesBorrowedMemoryToTheParentAfterAFork) {
  ClientOptions borrowing = options();
  borrowing.borrows_gpu_arrays = true;
  const Tesseract client = connect(borrowing);
  std::optional<Value> result = client.apply({{"x", on_gpu({4.0F, 5.0F})}});
  EXPECT_TRUE(holds_in_a_child([&] {
    result.reset();
    const bool is_well = client.health().object()["status"].text() == "ok";
    client.close();
    return is_well;
  }));
  EXPECT_EQ(leases(), 1);
  EXPECT_THAT(values_of(result->object()["x"].array()), ElementsAre(4.0F, 5.0F));
  result.reset();
  EXPECT_TRUE(has_no_lease_soon());
}

// CUDA does not work in a child that was forked after its start.
TEST_F(GpuDaemonTest, SaysThatAForkedChildHasNoGpu) {
  const Tesseract client = connect(options());
  const Value result = client.apply({{"x", on_gpu({4.0F, 5.0F})}});
  EXPECT_TRUE(holds_in_a_child([&] {
    try {
      static_cast<void>(client.apply(result.object()));
    } catch (const ClientError& error) {
      return error.kind() == Kind::kGpu && std::string_view(error.what()).find("forked") != std::string_view::npos;
    }
    return false;
  }));
  EXPECT_THAT(values_of(client.apply(result.object()).object()["x"].array()), ElementsAre(4.0F, 5.0F));
}

TEST_F(GpuDaemonTest, FallsBackInAForkedChild) {
  const Tesseract client = Tesseract::from_url(url_, options());
  EXPECT_EQ(client.resolve_gpu_transport(), "cuda_ipc");
  EXPECT_TRUE(holds_in_a_child([&] {
    const bool is_none = client.resolve_gpu_transport() == "none";
    const std::vector<std::string> sentences = warnings_.sentences();
    const Value back = client.apply({{"x", Array::of<float>({1.0F})}});
    return is_none && sentences.size() == 1 && sentences[0].find("forked") != std::string::npos &&
           values_of(back.object()["x"].array()) == std::vector<float>{1.0F};
  }));
  EXPECT_EQ(client.resolve_gpu_transport(), "cuda_ipc");
}

TEST_F(GpuDaemonTest, SaysThatAnArrayCouldNotBeExported) {
  const Tesseract client = connect(options());
  const Array array = on_gpu({1.0F});
  stand_in_.fail_next("cuIpcGetMemHandle", 1);
  expect_error(Kind::kGpu, "the inputs cannot be sent: ", [&] { static_cast<void>(client.apply({{"x", array}})); });
}

std::string gpu_array(const std::string& buffer) {
  return R"({"y":{"object_type":"array","shape":[2],"dtype":"float32","data":{"buffer":")" + buffer +
         R"(","encoding":"cuda_ipc"}}})";
}

TEST_F(GpuArraysTest, RefuseTheMemoryOfAGpuThatIsNotHere) {
  const std::string body = gpu_array("01234567-89ab-cdef-0123-456789abcdef:" + std::string(86, 'A') + "==:0:8");
  const ScriptedServer server(
      ScriptedServer::answering(ok_response(body, "Tesseract-Exports: 0123456789abcdef0123456789abcdef\r\n")));
  ClientOptions told_on_close = options();
  told_on_close.exports_idle_time = std::chrono::hours(1);
  const Tesseract client = Tesseract::from_url(server.url(), told_on_close);
  expect_error(Kind::kGpu, "01234567-89ab-cdef-0123-456789abcdef", [&client] { static_cast<void>(client.apply({})); });
  client.close();
  EXPECT_EQ(server.requests().back().header("Tesseract-Exports-Done"), "0123456789abcdef0123456789abcdef");
}

TEST_F(GpuArraysTest, RefuseDescriptorsThatAreNone) {
  const std::string gpu = gpus_->gpus().front()->uuid().text();
  for (const std::string& buffer :
       {std::string("x"), gpu + "::0:0", gpu + ":AAAA:0:8", gpu + ":" + std::string(86, 'A') + "==:99999:8",
        gpu + ":" + std::string(86, 'A') + "==:0:8", "GPU-" + gpu + "::0:0"}) {
    const ScriptedServer server(ScriptedServer::answering(ok_response(gpu_array(buffer))));
    const auto error =
        testing::error_of([&] { static_cast<void>(Tesseract::from_url(server.url(), options()).apply({})); });
    ASSERT_TRUE(error.has_value());
    EXPECT_THAT(error->what(), HasSubstr("y")) << buffer;
  }
}

TEST_F(GpuArraysTest, SayWhyTheServerCannotExchangeThem) {
  const ScriptedServer server(ScriptedServer::answering(ok_response(R"({"ok":false,"reason":"no GPU there"})")));
  const Tesseract client = Tesseract::from_url(server.url(), options());
  EXPECT_EQ(client.resolve_gpu_transport(), "none");
  ASSERT_THAT(warnings_.sentences(), SizeIs(1));
  EXPECT_THAT(warnings_.sentences()[0], HasSubstr("copied to the host instead: no GPU there"));
  EXPECT_EQ(server.requests().back().line(), "POST /check_gpu_transport");
  EXPECT_THAT(server.requests().back().body, HasSubstr(R"("gpu_transport":"cuda_ipc","array":{"object_type":"array")"));
}

TEST_F(GpuArraysTest, AreNotExchangedAfterAReplyThatIsWrong) {
  for (const char* const reply :
       {"{}", "[]", "no JSON", R"({"ok":1})", R"({"ok":true})", R"({"ok":true,"array":{"data":{"buffer":"x"}}})"}) {
    const ScriptedServer server(ScriptedServer::answering(ok_response(reply, "Tesseract-Exports: abc\r\n")));
    ClientOptions told_on_close = options();
    told_on_close.exports_idle_time = std::chrono::hours(1);
    const Tesseract client = Tesseract::from_url(server.url(), told_on_close);
    EXPECT_EQ(client.resolve_gpu_transport(), "none") << reply;
    client.close();
    EXPECT_EQ(server.requests().back().header("Tesseract-Exports-Done"), "abc") << reply;
  }
}

TEST_F(GpuArraysTest, AreCheckedAgainAfterAnError) {
  const ScriptedServer server({ScriptedServer::answering_once(response_of("404 Not Found", "nothing here")),
                               ScriptedServer::answering(ok_response(R"({"ok":false,"reason":"no"})"))});
  const Tesseract client = Tesseract::from_url(server.url(), options());
  expect_error(Kind::kStatus, "answered the check of gpu_transport='cuda_ipc' with error 404: nothing here",
               [&client] { static_cast<void>(client.resolve_gpu_transport()); });
  EXPECT_EQ(client.resolve_gpu_transport(), "none");
}

TEST_F(GpuArraysTest, AreCheckedByAForkedChildWhileItsParentChecksThem) {
  std::atomic<bool> is_asked = false;
  std::atomic<bool> may_answer = false;
  const ScriptedServer server([&](testing::ScriptedConnection& connection) {
    static_cast<void>(connection.read());
    is_asked = true;
    while (!may_answer && connection.pause(std::chrono::milliseconds(5))) {
    }
    connection.send(ok_response(R"({"ok":false,"reason":"no"})"));
  });
  const Tesseract client = Tesseract::from_url(server.url(), options());
  std::thread other([&client] { EXPECT_EQ(client.resolve_gpu_transport(), "none"); });
  while (!is_asked) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(holds_in_a_child([&client] { return client.resolve_gpu_transport() == "none"; }));
  may_answer = true;
  other.join();
}

TEST_F(GpuArraysTest, AreNotCheckedWhereTheServerOffersNothing) {
  ScriptedServer server(ScriptedServer::answering(ok_response("{}")));
  server.set_document(R"({"paths":{},"x-supported-output-formats":["json"],"x-supported-gpu-transports":["none"]})");
  const Tesseract client = Tesseract::from_url(server.url(), options());
  EXPECT_EQ(client.resolve_gpu_transport(), "none");
  EXPECT_THAT(server.requests(), SizeIs(0));
  EXPECT_THAT(warnings_.sentences(), SizeIs(0));
}

}  // namespace
}  // namespace tessera
