// Many threads that share one client.
#include <atomic>
#include <string>
#include <thread>

#include "given_servers.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using testing::elements_of;

class SharedClientTest : public testing::ServerTest {
 protected:
  SharedClientTest() : ServerTest("identity") {}

  template <class Work>
  static void on_threads(int count, Work work) {
    std::vector<std::thread> threads;
    for (int i = 0; i != count; ++i) {
      threads.emplace_back([&work, i] { work(i); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
};

TEST_F(SharedClientTest, GivesEachThreadItsOwnAnswer) {
  ClientOptions with_folders = options();
  with_folders.server_input_path = server().input_path;
  const Tesseract client = Tesseract::from_url(server().url, with_folders);
  const std::vector<Tesseract> views = {client.with_encoding({.output_format = "json"}),
                                        client.with_encoding({.output_format = "json+base64"}),
                                        client.with_encoding({.output_format = "json+base64", .compression = "lz4"}),
                                        client.with_encoding({.output_format = "json+binref"})};
  std::atomic<int> right = 0;
  on_threads(32, [&](int thread) {
    const Tesseract& view = views[static_cast<std::size_t>(thread) % views.size()];
    for (int call = 0; call != 5; ++call) {
      const std::vector<float> numbers(static_cast<std::size_t>(thread * 10 + call),
                                       static_cast<float>(thread * 100 + call));
      const Array x = Array::copy_of(std::span(numbers), {static_cast<std::int64_t>(numbers.size())});
      right += elements_of<float>(view.apply({{"x", x}}).object()["x"]) == numbers ? 1 : 0;
    }
  });
  EXPECT_EQ(right, 32 * 5);
}

TEST_F(SharedClientTest, GivesErrorsToWhomTheyBelong) {
  const Tesseract client = connect({.output_format = "json+base64"});
  std::atomic<int> right = 0;
  on_threads(16, [&](int thread) {
    for (int call = 0; call != 5; ++call) {
      try {
        const Value result = client.apply({{thread % 2 == 0 ? "x" : "wrong", Array::of<float>({1.0F})}});
        right += thread % 2 == 0 && result.object().find("x") != nullptr ? 1 : 0;
      } catch (const ClientError& error) {
        right += thread % 2 == 1 && error.kind() == Kind::kRefused ? 1 : 0;
      }
    }
  });
  EXPECT_EQ(right, 16 * 5);
}

TEST_F(SharedClientTest, FetchesTheDocumentWhileThreadsCall) {
  const Tesseract client = connect();
  std::atomic<int> right = 0;
  on_threads(16, [&](int thread) {
    if (thread % 2 == 0) {
      right += client.available_endpoints().front() == "apply" ? 1 : 0;
    } else {
      const Value result = client.apply({{"x", Array::of<float>({2.0F})}});
      right += elements_of<float>(result.object()["x"]) == std::vector<float>{2.0F} ? 1 : 0;
    }
  });
  EXPECT_EQ(right, 16);
}

}  // namespace
}  // namespace tessera
