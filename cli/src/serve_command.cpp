#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "age.h"
#include "command.h"
#include "command_line.h"
#include "config_flags.h"
#include "crash_handler.h"
#include "modules.h"
#include "port_range.h"
#include "stop_signal.h"
#include "tessera/base/clock.h"
#include "tessera/base/log.h"
#include "tessera/daemon/daemon.h"

namespace tessera {
namespace {

constexpr const char* kServeFooter =
    R"(A NAME is looked for in the folders of $TESSERA_PATH, then in ../lib/tessera beside this
program; a text with a '/' is the path of a module, or of a folder that holds one of its own
name. One Tesseract is served at / and at /NAME, several each at /NAME, with files of their own
in NAME below the input and output folders: -i in -o out has NAME read from in/NAME and write
to out/NAME. Folders for outputs are made; those for inputs need not be there, and are looked for
whenever a call names a file in them.

Where the flag is not given, TESSERACT_RUNTIME_SERVE_HOST, TESSERACT_RUNTIME_SERVE_PORT and
TESSERACT_RUNTIME_SERVE_NUM_WORKERS hold.

SIGTERM, SIGINT and SIGHUP end the server once the running calls are done; a second one at once.
Exit codes: 0 stopped, 1 could not start, 2 wrong command line, 3 address already in use.

Examples:
  tessera serve vectoradd
  tessera serve vectoradd ./heat --port 8000-8010 --num-workers 4 -o runs --keep-runs 24h
  tessera serve vectoradd --unix /run/user/1000/tessera.sock --no-tcp)";

constexpr unsigned kMostWorkers = 4096;
// Beyond what machines have; sums of them stay far from overflow.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 50;
constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 24;
constexpr std::uint64_t kMaxDescriptor = std::uint64_t{1} << 30;

// The words of the command line, before they are made sense of.
struct ServeArguments {
  std::vector<std::string> tesseracts;
  std::string port = "8000";
  std::string unix_socket;
  std::string keep_runs;
  std::string busy_poll = "0";
  std::string log_level = "info";
  bool log_json = false;
  bool no_tcp = false;
  std::int64_t stop_time_s = 10;
  std::int64_t exports_timeout_s = 300;
  int parent_pipe_fd = -1;
  ConfigFlags flags;
  DaemonOptions options;
};

// The whole of a text as a number of that range; nothing for anything else.
std::optional<std::uint64_t> read_whole_number(const std::string& text, std::uint64_t lowest, std::uint64_t highest) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number);
  const bool is_right = fault == std::errc() && stop == end && number >= lowest && number <= highest;
  return is_right ? std::optional(number) : std::nullopt;
}

// CLI11 reads "-1" as the largest unsigned number, and others round or wrap; this takes digits only.
CLI::Validator whole_number(std::uint64_t lowest, std::uint64_t highest) {
  const std::string range = std::to_string(lowest) + " to " + std::to_string(highest);
  return {[lowest, highest, range](const std::string& text) -> std::string {
            return read_whole_number(text, lowest, highest) ? "" : "'" + text + "' is no whole number from " + range;
          },
          ""};
}

void declare(CLI::App& app, ServeArguments& arguments) {
  DaemonOptions& options = arguments.options;
  app.footer(kServeFooter);
  app.add_option("NAME_OR_PATH", arguments.tesseracts, "The Tesseracts to serve")->required();
  app.add_option("--host", options.host, "The address to listen on")->capture_default_str();
  app.add_option("-p,--port", arguments.port, "The port, or A-B for the first free one; 0 lets the system choose")
      ->capture_default_str()
      ->type_name("N|A-B");
  app.add_option("--unix", arguments.unix_socket, "Listen on this Unix socket too")->type_name("PATH");
  app.add_flag("--no-tcp", arguments.no_tcp, "Listen on the Unix socket only")->needs("--unix");
  app.add_flag("--unix-any-user", options.unix_socket_any_user, "Let every user of this host in by the Unix socket")
      ->needs("--unix");
  app.add_option("--num-workers", options.workers, "Calls that compute at once")
      ->capture_default_str()
      ->check(whole_number(1, kMostWorkers));
  app.add_option("--keep-runs", arguments.keep_runs,
                 "Remove the run_* folders of runs older than this, and no others: 90s, 30m, 24h, 7d")
      ->type_name("AGE");
  app.add_option("--busy-poll", arguments.busy_poll,
                 "Look for the next request so long before sleeping, such as 100us: faster answers to a client\n"
                 "that sends one request after the other, for a core that is busy meanwhile")
      ->capture_default_str()
      ->type_name("TIME");
  app.add_option("--prepared-files", options.prepared_file_bytes,
                 "Bytes of array files that are made ahead, where outputs go to a tmpfs; 0: none")
      ->capture_default_str()
      ->check(whole_number(0, kMaxBytes))
      ->type_name("BYTES");
  app.add_option("--log-level", arguments.log_level, "debug, info, warning or error")
      ->capture_default_str()
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->type_name("LEVEL");
  app.add_flag("--log-json", arguments.log_json, "Write the log as JSON lines");
  app.add_option("--stop-time", arguments.stop_time_s,
                 "Seconds that running calls get at the end, clients with GPU arrays one of them")
      ->capture_default_str()
      ->check(whole_number(0, 86400))
      ->type_name("SECONDS");
  app.add_option("--exports-timeout", arguments.exports_timeout_s,
                 "Seconds that GPU arrays of an answer are kept for a client that never names them done")
      ->capture_default_str()
      ->check(whole_number(1, 86400))
      ->type_name("SECONDS");
  app.add_option("--parent-pipe-fd", arguments.parent_pipe_fd)->check(whole_number(0, kMaxDescriptor))->group("");

  constexpr const char* kLimits = "Limits";
  app.add_option("--max-body-bytes", options.body_bytes, "Of one request")
      ->capture_default_str()
      ->check(whole_number(1, kMaxBytes))
      ->group(kLimits);
  app.add_option("--max-bodies-bytes", options.bodies_bytes, "Of all requests together, as they arrive")
      ->default_str("1/2 of the memory")
      ->check(whole_number(1, kMaxBytes))
      ->group(kLimits);
  app.add_option("--max-request-line-bytes", options.request_line_bytes, "Of one request")
      ->capture_default_str()
      ->check(whole_number(1, kMaxBytes))
      ->group(kLimits);
  app.add_option("--max-header-value-bytes", options.header_value_bytes, "Of one header")
      ->capture_default_str()
      ->check(whole_number(1, kMaxBytes))
      ->group(kLimits);
  app.add_option("--max-headers", options.headers, "How many headers one request may have")
      ->capture_default_str()
      ->check(whole_number(1, kMaxCount))
      ->group(kLimits);
  app.add_option("--max-header-bytes", options.header_bytes, "Of the request line and all headers of one request")
      ->capture_default_str()
      ->check(whole_number(1, kMaxBytes))
      ->group(kLimits);
  app.add_option("--max-array-bytes", options.array_bytes, "Of one array of a request")
      ->capture_default_str()
      ->check(whole_number(1, kMaxBytes))
      ->group(kLimits);
  app.add_option("--max-export-bytes", options.export_bytes, "Of GPU memory that is kept for clients")
      ->default_str("3/4 of the GPUs' together")
      ->check(whole_number(1, kMaxBytes))
      ->group(kLimits);
  app.add_option("--max-waiting-calls", options.waiting_calls, "That wait for a worker")
      ->capture_default_str()
      ->check(whole_number(0, kMaxCount))
      ->group(kLimits);
  app.add_option("--max-connections", options.connections, "At once, as far as there are descriptors")
      ->capture_default_str()
      ->check(whole_number(1, kMaxCount))
      ->group(kLimits);
  app.add_option("--min-body-rate", options.body_bytes_per_second,
                 "Bytes a second of a body that takes longer than a minute; 0: as slow as it likes")
      ->capture_default_str()
      ->check(whole_number(0, kMaxBytes))
      ->group(kLimits);
  arguments.flags.add_to(app);
}

PortRange ports_of(const std::string& text, ExitCode code, const std::string& where) {
  const std::optional<PortRange> ports = parse_port_range(text);
  if (!ports) {
    throw CommandError(code, "Invalid value for " + where + ": '" + text +
                                 "' is neither a port nor a range of ports such as 8000-8010");
  }
  return *ports;
}

// Of the flag if it is there, else of the variable. Throws CommandError: kUsage for a flag, kFailure for a variable.
PortRange ports_of(const CLI::App& app, const ServeArguments& arguments) {
  constexpr const char* kVariable = "TESSERACT_RUNTIME_SERVE_PORT";
  const std::optional<std::string> text = get_environment_variable(kVariable);
  return app.count("--port") == 0 && text ? ports_of(*text, ExitCode::kFailure, kVariable)
                                          : ports_of(arguments.port, ExitCode::kUsage, "'--port'");
}

// What variables state where no flag does. Throws CommandError (kFailure).
void read_variables(const CLI::App& app, DaemonOptions& options) {
  constexpr const char* kWorkers = "TESSERACT_RUNTIME_SERVE_NUM_WORKERS";
  if (app.count("--host") == 0) {
    options.host = get_environment_variable("TESSERACT_RUNTIME_SERVE_HOST").value_or(options.host);
  }
  if (const auto text = get_environment_variable(kWorkers); text && app.count("--num-workers") == 0) {
    const std::optional<std::uint64_t> workers = read_whole_number(*text, 1, kMostWorkers);
    if (!workers) {
      throw CommandError(ExitCode::kFailure, std::string("Invalid value for ") + kWorkers + ": '" + *text +
                                                 "' is no number from 1 to " + std::to_string(kMostWorkers));
    }
    options.workers = static_cast<unsigned>(*workers);
  }
}

LogLevel level_of(const std::string& name) {
  if (name == "debug") {
    return LogLevel::kDebug;
  }
  if (name == "warning") {
    return LogLevel::kWarning;
  }
  return name == "error" ? LogLevel::kError : LogLevel::kInfo;
}

// Fills in what CLI11 left as text. Throws CommandError.
void complete(ServeArguments& arguments) {
  DaemonOptions& options = arguments.options;
  options.config = arguments.flags.load();
  options.serve_tcp = !arguments.no_tcp;
  options.stop_time = std::chrono::seconds(arguments.stop_time_s);
  options.exports_timeout = std::chrono::seconds(arguments.exports_timeout_s);
  if (!arguments.unix_socket.empty()) {
    options.unix_socket = arguments.unix_socket;
    // Who lets every user in means the file's mode too.
    options.unix_socket_mode = options.unix_socket_any_user ? 0666 : 0600;
  }
  if (!arguments.keep_runs.empty()) {
    options.keep_runs = parse_age(arguments.keep_runs);
    if (!options.keep_runs) {
      throw CommandError(ExitCode::kUsage, "Invalid value for '--keep-runs': '" + arguments.keep_runs +
                                               "' is no age such as 90s, 30m, 24h or 7d");
    }
  }
  const std::optional<std::chrono::microseconds> busy_poll = parse_short_time(arguments.busy_poll);
  if (!busy_poll) {
    throw CommandError(ExitCode::kUsage, "Invalid value for '--busy-poll': '" + arguments.busy_poll +
                                             "' is no time such as 0, 100us or 2ms, at most a second");
  }
  options.busy_poll = *busy_poll;
  if (arguments.tesseracts.size() > 1) {
    for (const char* field : {"NAME", "VERSION", "DESCRIPTION"}) {
      if (arguments.flags.is_set(field)) {
        throw CommandError(ExitCode::kFailure, std::string("TESSERACT_") + field + " is set, but " +
                                                   std::to_string(arguments.tesseracts.size()) +
                                                   " Tesseracts are served, and it can only be that of one");
      }
    }
  }
}

// Takes the first free port of the range. Throws CommandError.
std::unique_ptr<Daemon> start(const DaemonOptions& options, PortRange ports,
                              const std::vector<std::shared_ptr<const TesseractDefinition>>& tesseracts, Logger& logger,
                              const Clock& clock) {
  for (std::uint32_t port = ports.first;; ++port) {
    DaemonOptions with_port = options;
    with_port.port = static_cast<std::uint16_t>(port);
    Result<std::unique_ptr<Daemon>> daemon = Daemon::start(with_port, tesseracts, logger, clock);
    if (daemon) {
      return *std::move(daemon);
    }
    const bool is_in_use = daemon.error().native_code() == EADDRINUSE;
    if (!is_in_use || !options.serve_tcp || port == ports.last) {
      throw CommandError(is_in_use ? ExitCode::kAddressInUse : ExitCode::kFailure, daemon.error().message());
    }
  }
}

/// Not by SIG_IGN, which the programs that an endpoint starts would inherit.
void take_no_notice_of(int signal) {
  struct sigaction action{};
  action.sa_handler = [](int /*signal*/) {};
  action.sa_flags = SA_RESTART;
  static_cast<void>(::sigaction(signal, &action, nullptr));
}

}  // namespace

ExitCode serve_command(Arguments words) {
  CLI::App app("Serves Tesseracts over HTTP.", "tessera serve");
  ServeArguments arguments;
  declare(app, arguments);
  if (!read_command_line(app, words)) {
    return ExitCode::kSuccess;
  }
  const PortRange ports = ports_of(app, arguments);
  read_variables(app, arguments.options);
  complete(arguments);

  // Before anything can start a thread; modules can, when they are loaded.
  StopSignal stop;
  // What cannot be written is an error of whoever writes: to a client that has gone, beyond a limit of file sizes.
  take_no_notice_of(SIGPIPE);
  take_no_notice_of(SIGXFSZ);
  const SystemClock clock;
  const std::unique_ptr<Logger> logger = make_descriptor_logger(
      STDERR_FILENO, level_of(arguments.log_level), arguments.log_json ? LogStyle::kJson : LogStyle::kText, clock);
  tell_of_crashes(arguments.log_json);
  std::vector<std::shared_ptr<const TesseractDefinition>> tesseracts;
  tesseracts.reserve(arguments.tesseracts.size());
  for (const std::string& name : arguments.tesseracts) {
    tesseracts.push_back(load_tesseract(name));
  }
  const std::unique_ptr<Daemon> daemon = start(arguments.options, ports, tesseracts, *logger, clock);
  const char* const reason = stop.wait(arguments.parent_pipe_fd);
  logger->info("stopping", {{"reason", reason}});
  if (!daemon->stop()) {
    // A call still runs, says the log. Destroying the daemon would wait for it, and it may never return.
    std::_Exit(static_cast<int>(ExitCode::kSuccess));
  }
  return ExitCode::kSuccess;
}

}  // namespace tessera
