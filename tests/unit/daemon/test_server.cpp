#include "test_server.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

#include "request_target.h"

namespace tessera {
namespace {

constexpr std::chrono::seconds kPatience{10};

Response text_response(std::string_view text) {
  Response response;
  response.content_type = "text/plain";
  response.body.append(text);
  return response;
}

// Ends of a call that ran: its text, or an array of so many bytes in base64.
class TestCall final : public PendingCall {
 public:
  TestCall(TestService& service, const Request& request)
      : service_(service), target_(request.target), body_(request.body.whole()) {}

  void run() override {
    const int running = ++service_.running;
    int most = service_.most_running;
    while (most < running && !service_.most_running.compare_exchange_weak(most, running)) {
    }
    if (target_ == "/wait") {
      service_.gate.pass();
    }
    --service_.running;
    if (target_ == "/throw_late") {
      throw std::runtime_error("late");
    }
  }

  [[nodiscard]] std::uint64_t answer_bytes() const override { return body_.size(); }

  [[nodiscard]] Response finish() override {
    ++service_.finished;
    if (!target_.starts_with("/large?")) {
      return text_response(body_);
    }
    ++service_.large_answers;
    const std::size_t size = std::stoul(target_.substr(7));
    const Buffer bytes = Buffer::allocate(size);
    for (std::size_t i = 0; i < size; ++i) {
      bytes.data()[i] = static_cast<std::byte>(i % 251);
    }
    Response response = text_response("\"");
    response.body.append_base64(bytes, size);
    response.body.append("\"");
    return response;
  }

 private:
  TestService& service_;
  std::string target_;
  std::string_view body_;
};

std::string describe(const Request& request) {
  std::string text;
  for (const auto& value : {request.host, request.content_type, request.accept, request.exports_done}) {
    text += value.has_value() ? std::string(*value) : "none";
    text += '|';
  }
  return text;
}

}  // namespace

bool Gate::pass() {
  std::unique_lock lock(mutex_);
  ++arrivals_;
  changed_.notify_all();
  return changed_.wait_for(lock, kPatience, [this] { return is_open_; });
}

void Gate::open() {
  const std::lock_guard lock(mutex_);
  is_open_ = true;
  changed_.notify_all();
}

bool Gate::wait_for_arrivals(int count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [this, count] { return arrivals_ >= count; });
}

std::optional<Response> TestService::refuse_unread(const Request& head) {
  if (head.target != "/nowhere") {
    return std::nullopt;
  }
  Response response = text_response("unread");
  response.status = 404;
  return response;
}

std::variant<Response, std::unique_ptr<PendingCall>> TestService::begin(const Request& request) {
  ++begun;
  if (request.target == "/throw") {
    throw std::runtime_error("early");
  }
  if (request.target == "/wait_early") {
    gate.pass();
  }
  if (request.target == "/health") {
    Response response = text_response("ok");
    response.headers.emplace_back("x-test", "yes");
    return response;
  }
  if (request.target == "/load") {
    const ServerLoad load = request.server->load();
    return text_response(std::to_string(load.busy_workers) + " of " + std::to_string(load.workers) + " busy, " +
                         std::to_string(load.waiting_calls) + " waiting, " + std::to_string(load.connections) +
                         " connections, " + std::to_string(load.body_bytes) + " of " +
                         std::to_string(load.body_limit_bytes) + " body bytes");
  }
  if (split_target(request.target).path == "/headers") {
    return text_response(describe(request));
  }
  if (request.target == "/nowhere") {
    Response response = text_response("read");
    response.status = 404;
    return response;
  }
  return std::unique_ptr<PendingCall>(std::make_unique<TestCall>(*this, request));
}

bool TestService::wait_for_begun(int count) const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (begun < count && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return begun >= count;
}

void TestService::request_over(const RequestReport& report) {
  const std::lock_guard lock(mutex_);
  reports_.emplace_back(report);
  reported_.notify_all();
}

std::vector<OwnedReport> TestService::reports(std::size_t count) const {
  std::unique_lock lock(mutex_);
  reported_.wait_for(lock, kPatience, [&] { return reports_.size() >= count; });
  return reports_;
}

void CountingLogger::write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  ++(level == LogLevel::kError ? errors : warnings);
  std::string line(message);
  for (const LogField& field : fields) {
    if (const auto* const text = std::get_if<std::string_view>(&field.value)) {
      line.append(" ").append(field.key).append("=").append(*text);
    }
  }
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::move(line));
}

std::vector<std::string> CountingLogger::lines_with(std::string_view text) const {
  std::vector<std::string> found;
  const std::lock_guard lock(mutex_);
  std::ranges::copy_if(lines_, std::back_inserter(found),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
  return found;
}

TestServer::TestServer(DaemonOptions options) {
  options.port = 0;
  Result<std::unique_ptr<HttpServer>> started = HttpServer::start(std::move(options), service, logger, clock);
  if (!started.has_value()) {
    throw std::runtime_error(started.error().message());
  }
  server = std::move(started).value();
}

}  // namespace tessera
