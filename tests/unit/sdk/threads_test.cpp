// One client, and many threads.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client_errors.h"
#include "finished_exports.h"
#include "scripted_server.h"
#include "served_modules.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using std::chrono::milliseconds;
using testing::expect_error;
using testing::ok_response;
using testing::RecordedRequest;
using testing::ScriptedConnection;
using testing::ScriptedServer;
using testing::ServedModules;
using ::testing::SizeIs;

template <class Work>
void on_threads(int count, Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i != count; ++i) {
    threads.emplace_back([&work, i] { work(i); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(ThreadsTest, EachGetTheirOwnAnswer) {
  const ServedModules served("examples/identity");
  for (const std::string& url : {served.url(), served.unix_url()}) {
    const Tesseract client = Tesseract::from_url(url);
    std::atomic<int> right = 0;
    on_threads(64, [&](int thread) {
      const Tesseract view = client.with_encoding({.output_format = thread % 2 == 0 ? "json" : "json+base64"});
      for (int call = 0; call != 5; ++call) {
        const auto number = static_cast<float>(thread * 100 + call);
        const Value result = view.apply({{"x", Array::of<float>({number, 1.0F})}});
        right += result.object()["x"].array().values<float>()[0] == number ? 1 : 0;
      }
    });
    EXPECT_EQ(right, 64 * 5);
  }
}

TEST(ThreadsTest, FetchTheDocumentAtTheSameTime) {
  const ServedModules served("examples/vectoradd");
  const Tesseract client = Tesseract::from_url(served.url());
  std::atomic<const Value*> seen = nullptr;
  std::atomic<int> same = 0;
  on_threads(16, [&](int /*thread*/) {
    const Value* const mine = &client.openapi_schema();
    const Value* expected = nullptr;
    same += seen.compare_exchange_strong(expected, mine) || expected == mine ? 1 : 0;
  });
  EXPECT_EQ(same, 16);
}

TEST(ThreadsTest, NameEachExportOnce) {
  std::atomic<int> next = 0;
  const ScriptedServer server([&next](ScriptedConnection& connection) {
    while (const auto request = connection.read()) {
      connection.send(request->line().starts_with("POST")
                          ? ok_response("{}", "Tesseract-Exports: id" + std::to_string(next++) + "\r\n")
                          : ok_response("{}"));
    }
  });
  ClientOptions options;
  options.exports_idle_time = milliseconds(1);
  {
    const Tesseract client = Tesseract::from_url(server.url(), options);
    // The server does not record who fetches the document, and that request, too, would name what another thread has
    // finished with.
    static_cast<void>(client.openapi_schema());
    on_threads(16, [&client](int thread) {
      for (int call = 0; call != 20; ++call) {
        static_cast<void>(client.apply({}));
        if (call % 7 == thread % 7) {
          std::this_thread::sleep_for(milliseconds(2));
        }
      }
    });
  }
  // What the background thread has in hand is named soon after.
  const auto named = [&server] {
    std::vector<std::string> ids;
    for (const RecordedRequest& request : server.requests()) {
      std::string rest = request.header("Tesseract-Exports-Done").value_or("") + ",";
      for (std::size_t comma = rest.find(','); comma != std::string::npos; comma = rest.find(',')) {
        if (comma != 0) {
          ids.push_back(rest.substr(0, comma));
        }
        rest.erase(0, comma + 1);
      }
    }
    return ids;
  };
  for (int i = 0; i != 1000 && named().size() < 320; ++i) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  std::vector<std::string> ids = named();
  EXPECT_THAT(ids, SizeIs(320));
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::unique(ids).size(), 0U);
}

TEST(ThreadsTest, NameAtMostAThousandExportsInARequest) {
  std::vector<std::size_t> counts;
  const auto exports = std::make_shared<FinishedExports>(
      std::chrono::hours(1), [&counts](FinishedExports& self) { counts.push_back(self.take().size()); });
  on_threads(5, [&exports](int thread) {
    for (int i = 0; i != 500; ++i) {
      exports->add("id" + std::to_string(thread * 500 + i));
    }
  });
  exports->flush();
  EXPECT_THAT(counts, ::testing::ElementsAre(1000, 1000, 500));
}

TEST(ThreadsTest, CloseTheClientMeanwhile) {
  const ServedModules served("examples/identity");
  const Tesseract client = Tesseract::from_url(served.url());
  std::atomic<int> right = 0;
  on_threads(8, [&](int thread) {
    for (int call = 0; call != 20; ++call) {
      if (thread == 0) {
        client.close();
      }
      right += client.health().object()["status"].text() == "ok" ? 1 : 0;
    }
  });
  EXPECT_EQ(right, 8 * 20);
}

TEST(ThreadsTest, MakeAndDropClients) {
  const ScriptedServer server([](ScriptedConnection& connection) {
    while (const auto request = connection.read()) {
      connection.send(ok_response("{}", "Tesseract-Exports: abc\r\n"));
    }
  });
  on_threads(8, [&server](int /*thread*/) {
    for (int round = 0; round != 10; ++round) {
      ClientOptions options;
      options.exports_idle_time = milliseconds(round % 3);
      static_cast<void>(Tesseract::from_url(server.url(), options).apply({}));
    }
  });
}

TEST(ThreadsTest, CheckATransportOnce) {
  const ScriptedServer server(ScriptedServer::answering(ok_response(R"({"ok":false,"reason":"no"})")));
  testing::Warnings warnings;
  ClientOptions options;
  options.warn = warnings.collector();
  const Tesseract client = Tesseract::from_url(server.url(), options);
  on_threads(16, [&client](int /*thread*/) { EXPECT_EQ(client.resolve_gpu_transport(), "none"); });
  EXPECT_THAT(warnings.sentences(), SizeIs(1));
}

TEST(ThreadsTest, CancelACallThatRuns) {
  const ServedModules served("examples/failing");
  const Tesseract client = Tesseract::from_url(served.url());
  static_cast<void>(client.health());
  const Cancellation cancellation;
  std::thread other([&cancellation] {
    std::this_thread::sleep_for(milliseconds(100));
    cancellation.cancel();
  });
  const auto begin = std::chrono::steady_clock::now();
  expect_error(Kind::kCancelled, "the call was cancelled",
               [&] { static_cast<void>(client.apply({{"sleep_s", 2.0}}, {.cancellation = cancellation})); });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  other.join();
  EXPECT_EQ(client.health().object()["status"].text(), "ok");
}

TEST(ThreadsTest, CancelManyCallsAtOnce) {
  const ScriptedServer server([](ScriptedConnection& connection) {
    static_cast<void>(connection.read());
    connection.wait_for_end();
  });
  const Tesseract client = Tesseract::from_url(server.url());
  const Cancellation cancellation;
  std::thread other([&cancellation] {
    std::this_thread::sleep_for(milliseconds(50));
    cancellation.cancel();
  });
  on_threads(16, [&](int /*thread*/) {
    expect_error(Kind::kCancelled, "", [&] { static_cast<void>(client.health({.cancellation = cancellation})); });
  });
  other.join();
}

TEST(ThreadsTest, AreServedByTheConnectionsThatOthersLeft) {
  const ScriptedServer server(ScriptedServer::answering(ok_response("{}")));
  const Tesseract client = Tesseract::from_url(server.url());
  for (int round = 0; round != 5; ++round) {
    on_threads(4, [&client](int /*thread*/) {
      for (int call = 0; call != 10; ++call) {
        static_cast<void>(client.health());
      }
    });
  }
  EXPECT_LE(server.connections(), 4U);
}

}  // namespace
}  // namespace tessera
