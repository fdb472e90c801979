#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "client_options.h"
#include "command.h"
#include "command_line.h"
#include "server_url.h"
#include "terminal_screen.h"
#include "tessera/base/clock.h"
#include "tessera/sdk/tesseract.h"
#include "top_report.h"

namespace tessera {
namespace {

using Seconds = std::chrono::duration<double>;

// How soon a signal is noticed while nothing happens.
constexpr std::chrono::milliseconds kSlice{50};
// A server that says nothing for so long cannot be watched, unless --timeout says otherwise.
constexpr std::chrono::seconds kPatience{5};

volatile std::sig_atomic_t is_interrupted = 0;

// Ends a call that waits when a signal comes. Only thrown through calls of the client, never out of this file.
struct Interrupted {};

// Signals that would end the program are noted, so that the terminal is given back first.
void note_signals() {
  struct sigaction action{};
  action.sa_handler = [](int /*signal*/) { is_interrupted = 1; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
      ::sigaction(signal, &action, nullptr);
    }
  }
}

// Waits that long; false if a signal came.
bool pause_for(Seconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (is_interrupted == 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::min<Seconds>(kSlice, end - std::chrono::steady_clock::now()));
  }
  return is_interrupted == 0;
}

// Looks at one server, whose metrics are its own, not those of one Tesseract.
class TopClient {
 public:
  TopClient(std::string url, ClientOptions options) : options_(std::move(options)) {
    options_.on_signal = [] {
      if (is_interrupted != 0) {
        throw Interrupted();
      }
    };
    open(std::move(url));
  }

  [[nodiscard]] const std::string& url() const { return tesseract_->url(); }

  // Throws ClientError, CommandError for what is no tessera, Interrupted.
  [[nodiscard]] TopLook look() {
    std::optional<MetricsText> metrics = MetricsText::parse(fetch());
    if (!metrics || !metrics->value("tessera_build_info")) {
      throw CommandError(ExitCode::kFailure, url() + " answers, but it is no tessera: its /metrics are others");
    }
    const Seconds now = SystemClock().wall_now().time_since_epoch();
    return {*std::move(metrics), now.count()};
  }

 private:
  void open(std::string url) {
    url_ = std::move(url);
    tesseract_ = std::make_unique<Tesseract>(Tesseract::from_url(url_, options_));
  }

  // A name of a Tesseract in the URL is left out if that is what it takes.
  [[nodiscard]] std::string fetch() {
    const std::string asked = url();
    while (true) {
      try {
        return tesseract_->call_text("metrics", std::nullopt);
      } catch (const ClientError& error) {
        if (error.status() != 404) {
          throw;
        }
        std::optional<std::string> shorter = without_last_name(url_);
        if (!shorter) {
          throw CommandError(ExitCode::kFailure, asked + " answers, but it is no tessera: it has no /metrics");
        }
        open(*std::move(shorter));
      }
    }
  }

  ClientOptions options_;
  std::string url_;
  std::unique_ptr<Tesseract> tesseract_;
};

struct TopOptions {
  bool is_once = false;
  bool as_json = false;
  double interval_s = 1;
};

std::string shown(const TopReport& report, const TopOptions& options) {
  return options.as_json ? json_of(report) + "\n" : text_of(report);
}

void print_once(TopClient& client, const TopOptions& options) {
  const TopLook before = client.look();
  if (pause_for(Seconds(options.interval_s))) {
    std::cout << shown(make_top_report(client.url(), &before, client.look()), options);
  }
}

// One report after the other, where standard output is no terminal, or a program reads.
void print_all(TopClient& client, const TopOptions& options) {
  std::optional<TopLook> before;
  do {
    TopLook now = client.look();
    std::cout << shown(make_top_report(client.url(), before ? &*before : nullptr, now), options)
              << (options.as_json ? "" : "\n") << std::flush;
    before = std::move(now);
  } while (!std::cout.fail() && pause_for(Seconds(options.interval_s)));
}

// A server that cannot be reached for a while may come back.
void show_all(TopClient& client, const TopOptions& options) {
  std::optional<TopLook> before = client.look();  // what cannot be reached at all is an error of the command
  TerminalScreen screen;
  screen.show(text_of(make_top_report(client.url(), nullptr, *before)));
  while (pause_for(Seconds(options.interval_s))) {
    try {
      TopLook now = client.look();
      screen.show(text_of(make_top_report(client.url(), before ? &*before : nullptr, now)));
      before = std::move(now);
    } catch (const ClientError& error) {
      screen.show(client.url() + ": " + error.what() + "\ntrying again; Ctrl-C ends\n");
    }
  }
}

}  // namespace

ExitCode top_command(Arguments arguments) {
  CLI::App app("Shows what a server does: requests, times, bytes, workers, memory, limits.", "tessera top");
  std::string url;
  TopOptions options;
  ConnectionFlags flags;
  add_url_to(app, url);
  app.add_flag("--once", options.is_once, "Print one report, of one interval, and end");
  app.add_flag("--json", options.as_json, "Print JSON: one object a line");
  app.add_option("--interval", options.interval_s, "Seconds between two looks")->capture_default_str();
  flags.add_to(app);
  app.footer(
      "Ctrl-C ends. Rates and times are of the last interval; those of the first screen, and limits, since the "
      "server's "
      "start.\nExit codes: 0 ended, 1 the server cannot be reached or is no tessera, 2 wrong command line.\n\n"
      "Examples:\n  tessera top http://127.0.0.1:8000\n  tessera top unix:/run/tessera.sock --once --json");
  if (!read_command_line(app, arguments)) {
    return ExitCode::kSuccess;
  }
  if (!(options.interval_s >= 0.05) || options.interval_s > 86400) {
    throw CommandError(ExitCode::kUsage, "--interval must be from 0.05 to 86400 seconds");
  }
  return with_client_errors([&] {
    ClientOptions client_options = flags.options();
    client_options.timeouts.connect = client_options.timeouts.connect.value_or(kPatience);
    client_options.timeouts.read = client_options.timeouts.read.value_or(kPatience);
    note_signals();
    TopClient client(url, std::move(client_options));
    try {
      if (options.is_once) {
        print_once(client, options);
      } else if (options.as_json || ::isatty(STDOUT_FILENO) == 0) {
        print_all(client, options);
      } else {
        show_all(client, options);
      }
    } catch (const Interrupted&) {
      return ExitCode::kSuccess;
    }
    return ExitCode::kSuccess;
  });
}

}  // namespace tessera
