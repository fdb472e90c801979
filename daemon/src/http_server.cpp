#include "http_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <exception>
#include <limits>
#include <string>
#include <system_error>
#include <thread>
#include <utility>  // Boost 1.74 needs it first.
#include <vector>

#include "acceptor.h"
#include "bodies_budget.h"
#include "connection_table.h"
#include "descriptor_limit.h"
#include "listener.h"
#include "server_load.h"
#include "session_environment.h"
#include "task.h"
#include "tessera/base/file.h"
#include "tessera/base/mutex.h"
#include "tessera/base/usable_memory.h"
#include "worker_slots.h"

namespace tessera {
namespace {

namespace asio = boost::asio;

// Between two looks at old runs; and until the next, if there are more of them than are removed at once.
constexpr std::chrono::seconds kMaxRunRemovalInterval{60};
constexpr std::chrono::milliseconds kTimeBetweenRemovals{20};
// Once the server stops: for bodies to arrive, and until the next look at those that still do.
constexpr std::chrono::milliseconds kTimeForBodies{1000};
// Beyond the time to stop, for those to hear it who waited for a worker.
constexpr std::chrono::milliseconds kTimeForRefusals{200};
constexpr std::chrono::milliseconds kTimeBetweenBodies{100};
// Before that: for clients to copy out the GPU memory that they were lent, and until the next look at whether they
// have.
constexpr std::chrono::milliseconds kTimeForExports{1000};
constexpr std::chrono::milliseconds kTimeBetweenExports{5};

std::size_t core_count() {
  return std::max(1U, std::thread::hardware_concurrency());
}

// Often enough for the shortest limit to be kept within a quarter of it, or a second.
std::chrono::milliseconds sweep_interval(const DaemonOptions& options) {
  const std::chrono::milliseconds shortest =
      std::min({options.idle_time, options.header_time, options.body_progress_time});
  return std::clamp<std::chrono::milliseconds>(shortest / 4, std::chrono::milliseconds(10), std::chrono::seconds(1));
}

// Often enough for runs to be gone within a quarter of their time, or a minute.
std::chrono::milliseconds run_removal_interval(const DaemonOptions& options) {
  return std::clamp<std::chrono::milliseconds>(options.keep_runs.value_or(kMaxRunRemovalInterval) / 4,
                                               std::chrono::seconds(1), kMaxRunRemovalInterval);
}

Status check(const DaemonOptions& options) {
  if (options.workers == 0) {
    return Error(ErrorCode::kInvalidArgument, "the number of workers is 0, at least 1 is needed");
  }
  if (options.body_bytes == 0 || options.header_bytes == 0 || options.connections == 0) {
    return Error(ErrorCode::kInvalidArgument, "the limits of bodies, headers and connections must be at least 1");
  }
  if (options.headers == 0 || options.bodies_bytes == 0 || options.request_line_bytes == 0 ||
      options.header_value_bytes == 0) {
    return Error(ErrorCode::kInvalidArgument, "the limits of parts of headers, and of all bodies, must be at least 1");
  }
  if (!options.serve_tcp && !options.unix_socket.has_value()) {
    return Error(ErrorCode::kInvalidArgument, "neither TCP nor a Unix socket is to be served");
  }
  return {};
}

class AsioHttpServer final : public HttpServer, private LoadSource {
 public:
  AsioHttpServer(DaemonOptions options, Service& service, Logger& logger, const Clock& clock)
      : options_(std::move(options)),
        service_(service),
        logger_(logger),
        clock_(clock),
        call_slots_(options_.workers, options_.waiting_calls),
        codec_slots_(core_count(), std::numeric_limits<std::size_t>::max()),
        connections_(options_.connections, options_.idle_time, options_.idle_time * kFirstRequestPatience, logger,
                     service.limits()),
        bodies_(options_.bodies_bytes.value_or(usable_memory_bytes() / 2)) {}
  AsioHttpServer(const AsioHttpServer&) = delete;
  AsioHttpServer& operator=(const AsioHttpServer&) = delete;
  ~AsioHttpServer() override;

  [[nodiscard]] Status start();
  [[nodiscard]] std::uint16_t port() const override { return tcp_.port; }
  bool stop() override;

 private:
  [[nodiscard]] Status listen();
  [[nodiscard]] Status start_threads();
  void spawn(Task<void> task);
  [[nodiscard]] Status start_accepting(int listener, bool is_unix);
  [[nodiscard]] Task<void> close_expired_connections();
  [[nodiscard]] Task<void> remove_old_runs();
  [[nodiscard]] Task<void> sleep(std::chrono::milliseconds time);
  [[nodiscard]] std::chrono::milliseconds wait_for_exports() const;
  [[nodiscard]] bool wait_for_calls(std::chrono::milliseconds stop_time);
  [[nodiscard]] bool finish();
  [[nodiscard]] ServerLoad load() const override;

  const DaemonOptions options_;
  Service& service_;
  Logger& logger_;
  const Clock& clock_;
  WorkerSlots call_slots_;
  WorkerSlots codec_slots_;
  ConnectionTable connections_;
  BodiesBudget bodies_;
  std::atomic<bool> is_stopping_{false};
  std::atomic<unsigned> busy_pollers_{0};
  SessionEnvironment environment_{options_,     service_, logger_,       clock_,       call_slots_, codec_slots_,
                                  connections_, bodies_,  busy_pollers_, is_stopping_, *this};
  TcpListener tcp_;
  UnixListener unix_;
  // Destroyed before what its handlers refer to.
  asio::io_context io_;
  asio::executor_work_guard<Executor> work_{io_.get_executor()};
  std::vector<std::thread> threads_;

  bool has_started_ = false;
  Mutex stop_mutex_;
  bool has_stopped_ TESSERA_GUARDED_BY(stop_mutex_) = false;
  bool have_all_finished_ TESSERA_GUARDED_BY(stop_mutex_) = false;
};

AsioHttpServer::~AsioHttpServer() {
  static_cast<void>(stop());
  for (std::thread& thread : threads_) {
    thread.join();
  }
  // They hold handlers of io_, which must not outlive it.
  call_slots_.drop_waiters();
  codec_slots_.drop_waiters();
}

Status AsioHttpServer::start() {
  TESSERA_RETURN_IF_ERROR(listen());
  if (tcp_.socket.is_open()) {
    TESSERA_RETURN_IF_ERROR(start_accepting(tcp_.socket.value(), false));
  }
  if (unix_.socket().is_open()) {
    TESSERA_RETURN_IF_ERROR(start_accepting(unix_.socket().value(), true));
  }
  spawn(close_expired_connections());
  if (options_.keep_runs.has_value()) {
    spawn(remove_old_runs());
  }
  TESSERA_RETURN_IF_ERROR(start_threads());
  has_started_ = true;
  return {};
}

Status AsioHttpServer::listen() {
  if (options_.serve_tcp) {
    TESSERA_ASSIGN_OR_RETURN(tcp_, listen_tcp(options_.host, options_.port));
  }
  if (options_.unix_socket.has_value()) {
    TESSERA_ASSIGN_OR_RETURN(unix_, UnixListener::listen(*options_.unix_socket, options_.unix_socket_mode));
  }
  // What is said is true: if one of them cannot be had, none is.
  if (options_.serve_tcp) {
    logger_.info("listening", {{"address", options_.host}, {"port", std::int64_t{tcp_.port}}});
  }
  if (options_.unix_socket.has_value()) {
    logger_.info("listening", {{"unix", options_.unix_socket->native()}});
  }
  return {};
}

// With all workers and all codecs at work one thread is left, so that whatever needs neither is answered at once.
Status AsioHttpServer::start_threads() {
  const std::size_t count = options_.workers + core_count() + 1;
  try {
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this] { io_.run(); });
    }
  } catch (const std::system_error& error) {
    return Error(ErrorCode::kInternal, "cannot start " + std::to_string(count) + " threads: " + error.what());
  }
  return {};
}

void AsioHttpServer::spawn(Task<void> task) {
  asio::co_spawn(io_.get_executor(), std::move(task), [this](const std::exception_ptr& error) {
    if (error) {
      logger_.error("a service of the server ended by an exception");
    }
  });
}

Status AsioHttpServer::start_accepting(int listener, bool is_unix) {
  TESSERA_ASSIGN_OR_RETURN(std::unique_ptr<Acceptor> acceptor, Acceptor::make(io_, environment_, listener, is_unix));
  spawn(Acceptor::run(std::move(acceptor)));
  return {};
}

Task<void> AsioHttpServer::close_expired_connections() {
  const std::chrono::milliseconds interval = sweep_interval(options_);
  while (true) {
    co_await sleep(interval);
    connections_.close_expired(clock_.now());
  }
}

Task<void> AsioHttpServer::remove_old_runs() {
  while (!is_stopping_) {
    std::chrono::milliseconds pause = run_removal_interval(options_);
    // It may take long, so it counts as one of the codecs: some thread stays free all the same. With none free, the
    // next time will do.
    if (codec_slots_.try_take()) {
      const HeldSlot slot(codec_slots_);
      if (service_.remove_old_runs()) {
        pause = kTimeBetweenRemovals;
      }
    }
    co_await sleep(pause);
  }
}

Task<void> AsioHttpServer::sleep(std::chrono::milliseconds time) {
  asio::steady_timer timer(io_, time);
  boost::system::error_code error;
  co_await timer.async_wait(asio::redirect_error(UseTask(), error));
}

bool AsioHttpServer::stop() {
  const MutexLock lock(stop_mutex_);
  if (!has_stopped_) {
    has_stopped_ = true;
    have_all_finished_ = finish();
  }
  return have_all_finished_;
}

// Requests are still answered, as it is by one that a client names what it has copied. Returns how long it took.
std::chrono::milliseconds AsioHttpServer::wait_for_exports() const {
  const std::chrono::milliseconds moment = std::min(kTimeForExports, std::chrono::milliseconds(options_.stop_time) / 2);
  std::chrono::milliseconds waited{0};
  while (waited < moment && service_.awaited_exports() > 0) {
    std::this_thread::sleep_for(kTimeBetweenExports);
    waited += kTimeBetweenExports;
  }
  return waited;
}

// A request whose body is not here yet is no call that runs: it gets a moment, not all the time.
bool AsioHttpServer::wait_for_calls(std::chrono::milliseconds stop_time) {
  const std::chrono::milliseconds moment = std::min(kTimeForBodies, stop_time / 2);
  bool is_empty = connections_.wait_until_empty(moment);
  for (std::chrono::milliseconds left = stop_time - moment; !is_empty && left.count() > 0;) {
    const std::chrono::milliseconds part = std::min(left, kTimeBetweenBodies);
    connections_.close_incomplete();
    is_empty = connections_.wait_until_empty(part);
    left -= part;
  }
  return is_empty;
}

bool AsioHttpServer::finish() {
  const std::chrono::milliseconds stop_time = options_.stop_time - wait_for_exports();
  is_stopping_ = true;
  unix_.remove_path();
  // Wakes the coroutines that accept, and refuses whoever is not accepted yet.
  for (const int listener : {tcp_.socket.value(), unix_.socket().value()}) {
    ::shutdown(listener, SHUT_RDWR);
  }
  connections_.close_waiting();
  bool have_all_finished = wait_for_calls(stop_time);
  if (!have_all_finished) {
    // Calls that never began can still be answered.
    call_slots_.refuse_waiters();
    have_all_finished = connections_.wait_until_empty(kTimeForRefusals);
  }
  connections_.close_all(clock_.now());
  io_.stop();
  if (have_all_finished) {
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }
  if (has_started_) {
    logger_.info("stopped", {{"calls", have_all_finished ? "all finished" : "some still run"}});
  }
  return have_all_finished;
}

ServerLoad AsioHttpServer::load() const {
  return {.workers = call_slots_.slots(),
          .busy_workers = call_slots_.taken(),
          .waiting_calls = call_slots_.waiting(),
          .codecs = codec_slots_.slots(),
          .busy_codecs = codec_slots_.taken(),
          .waiting_codecs = codec_slots_.waiting(),
          .connections = connections_.size(),
          .body_bytes = bodies_.held_bytes(),
          .body_limit_bytes = bodies_.limit_bytes()};
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(DaemonOptions options, Service& service, Logger& logger,
                                                      const Clock& clock) {
  try {
    TESSERA_RETURN_IF_ERROR(check(options));
    auto server =
        std::make_unique<AsioHttpServer>(fit_to_descriptors(std::move(options), logger), service, logger, clock);
    TESSERA_RETURN_IF_ERROR(server->start());
    return std::unique_ptr<HttpServer>(std::move(server));
  } catch (const boost::system::system_error& error) {  // Asio found no descriptor for its loop, say
    return system_error("cannot start the server", error.code().value());
  }
}

}  // namespace tessera
