// What a server did between two looks at its metrics, and how that is shown.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metrics_text.h"

namespace tessera {

/// How long requests took; without values if there were none. A plain value.
struct TopTimes {
  std::optional<double> p50_s;
  std::optional<double> p99_s;
};

/// A plain value; rates are per second.
struct TopReport {
  struct Endpoint {
    std::string tesseract;  ///< empty for routes of the server itself
    std::string endpoint;
    double requests = 0;
    double errors = 0;                       ///< of them, those of status 400 and above
    std::map<std::string, double> statuses;  ///< those that were ever answered
    TopTimes times;
  };
  struct Part {
    std::string name;
    TopTimes times;
  };
  struct Encoding {
    std::string name;
    double received_bytes = 0;
    double sent_bytes = 0;
  };
  struct Limit {
    double hits = 0;  ///< since the start
    double hits_per_second = 0;
  };
  /// Of a server that may lend GPU memory.
  struct Gpu {
    double leases = 0;
    double lent_bytes = 0;
    double pool_used_bytes = 0;
    double pool_idle_bytes = 0;
  };

  std::string url;
  std::string version;
  double uptime_s = 0;
  double seconds = 0;  ///< that the rates and times are of
  bool is_since_start = false;
  double workers = 0;
  double busy_workers = 0;
  double waiting_calls = 0;
  double codecs = 0;
  double busy_codecs = 0;
  double waiting_codecs = 0;
  double connections = 0;
  double bodies_bytes = 0;  ///< of requests that are not yet answered
  double bodies_limit_bytes = 0;
  std::vector<Endpoint> endpoints;  ///< those that were ever asked for
  std::vector<Part> parts;          ///< of calls, in their order
  double received_bytes = 0;
  double sent_bytes = 0;
  std::vector<Encoding> arrays;
  double pool_used_bytes = 0;
  double pool_idle_bytes = 0;
  std::optional<Gpu> gpu;
  double cut_off = 0;  ///< since the start
  std::map<std::string, Limit> limits;
};

/// One look at a server. A plain value.
struct TopLook {
  MetricsText metrics;
  double at_s = 0;  ///< since 1970
};

/// What happened between two looks, or since the start without a first one, or if the server was started anew since.
[[nodiscard]] TopReport make_top_report(const std::string& url, const TopLook* before, const TopLook& now);

/// Lines for people.
[[nodiscard]] std::string text_of(const TopReport& report);
/// The same for programs: one object, in one line.
[[nodiscard]] std::string json_of(const TopReport& report);

}  // namespace tessera
