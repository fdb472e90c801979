#include "top_report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace tessera {
namespace {

// Rates over less would be noise.
constexpr double kShortestSeconds = 1e-3;
constexpr std::array<std::string_view, 6> kParts{"receive", "decode", "wait", "compute", "encode", "send"};

// Buckets by their upper bounds; the counts are of each alone.
using Buckets = std::map<double, double>;

// The value below which that share lies, as if it were spread evenly within its bucket.
std::optional<double> quantile(const Buckets& buckets, double share) {
  double all = 0;
  for (const auto& [bound, count] : buckets) {
    all += count;
  }
  if (all <= 0) {
    return std::nullopt;
  }
  double below = 0;
  double lower = 0;
  for (const auto& [bound, count] : buckets) {
    if (count > 0 && below + count >= share * all) {
      return std::isinf(bound) ? lower : lower + (bound - lower) * (share * all - below) / count;
    }
    below += count;
    lower = bound;
  }
  return lower;
}

TopTimes times_of(const Buckets& buckets) {
  return {quantile(buckets, 0.5), quantile(buckets, 0.99)};
}

// The upper bound of a bucket; nothing for what is none.
std::optional<double> bound_of(const MetricSample& sample) {
  const std::string_view text = sample.label("le");
  if (text == "+Inf") {
    return std::numeric_limits<double>::infinity();
  }
  double bound = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), bound);
  const bool is_bound = fault == std::errc() && end == text.data() + text.size() && !std::isnan(bound);
  return is_bound ? std::optional(bound) : std::nullopt;
}

// Orders samples by what they are of, whatever their values.
struct ByIdentity {
  bool operator()(const MetricSample* one, const MetricSample* other) const {
    return std::tie(one->name, one->labels) < std::tie(other->name, other->labels);
  }
};

// The differences between two looks.
class Changes {
 public:
  Changes(const MetricsText* before, const MetricsText& now, double seconds) : now_(now), seconds_(seconds) {
    std::set<const MetricSample*, ByIdentity> earlier;
    if (before != nullptr) {
      for (const MetricSample& sample : before->samples) {
        earlier.insert(&sample);
      }
    }
    for (const MetricSample& sample : now.samples) {
      const auto found = earlier.find(&sample);
      changes_.push_back(std::max(0.0, sample.value - (found == earlier.end() ? 0 : (*found)->value)));
    }
  }

  // Calls `take` with each sample of a metric and what was added to it.
  template <class Take>
  void each(std::string_view name, Take take) const {
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (now_.samples[i].name == name) {
        take(now_.samples[i], changes_[i]);
      }
    }
  }
  // How much a second was added to a metric without labels.
  [[nodiscard]] double rate(std::string_view name) const {
    double sum = 0;
    each(name, [&](const MetricSample& /*sample*/, double change) { sum += change; });
    return sum / seconds_;
  }

  // What was added to the buckets of a histogram, by what `key_of` makes of a sample. Each sample is looked at once,
  // however many keys there are.
  template <class KeyOf>
  [[nodiscard]] auto buckets(std::string_view name, KeyOf key_of) const {
    std::map<decltype(key_of(MetricSample())), Buckets> all;
    each(name, [&](const MetricSample& sample, double change) {
      if (const std::optional<double> bound = bound_of(sample)) {
        all[key_of(sample)][*bound] += change;
      }
    });
    for (auto& [key, counts] : all) {
      double below = 0;
      for (auto& [bound, count] : counts) {
        count -= std::exchange(below, count);
      }
    }
    return all;
  }

 private:
  const MetricsText& now_;
  double seconds_;
  std::vector<double> changes_;
};

void add_endpoints(TopReport& report, const Changes& changes) {
  const auto key_of = [](const MetricSample& sample) {
    return std::pair(std::string(sample.label("tesseract")), std::string(sample.label("endpoint")));
  };
  std::map<std::pair<std::string, std::string>, TopReport::Endpoint> endpoints;
  changes.each("tessera_requests_total", [&](const MetricSample& sample, double change) {
    TopReport::Endpoint& endpoint = endpoints[key_of(sample)];
    const double rate = change / report.seconds;
    endpoint.requests += rate;
    endpoint.errors += sample.label("status") >= "400" ? rate : 0;
    endpoint.statuses[std::string(sample.label("status"))] += rate;
  });
  auto buckets = changes.buckets("tessera_request_seconds_bucket", key_of);
  for (auto& [key, endpoint] : endpoints) {
    std::tie(endpoint.tesseract, endpoint.endpoint) = key;
    endpoint.times = times_of(buckets[key]);
    report.endpoints.push_back(std::move(endpoint));
  }
}

// Of the endpoints that compute: what else is asked for, this report for one, is none of a user's calls.
void add_parts(TopReport& report, const Changes& changes) {
  constexpr std::string_view kName = "tessera_request_part_seconds_bucket";
  std::set<std::string, std::less<>> computing;
  changes.each(kName, [&](const MetricSample& sample, double /*change*/) {
    if (sample.label("part") == "compute") {
      computing.emplace(sample.label("endpoint"));
    }
  });
  auto buckets = changes.buckets(kName, [&](const MetricSample& sample) {
    return std::pair(std::string(sample.label("part")), computing.contains(sample.label("endpoint")));
  });
  for (const std::string_view part : kParts) {
    report.parts.push_back({std::string(part), times_of(buckets[{std::string(part), true}])});
  }
}

void add_arrays(TopReport& report, const Changes& changes) {
  std::map<std::string, TopReport::Encoding> encodings;
  changes.each("tessera_array_received_bytes_total", [&](const MetricSample& sample, double change) {
    encodings[std::string(sample.label("encoding"))].received_bytes += change / report.seconds;
  });
  changes.each("tessera_array_sent_bytes_total", [&](const MetricSample& sample, double change) {
    encodings[std::string(sample.label("encoding"))].sent_bytes += change / report.seconds;
  });
  for (auto& [name, encoding] : encodings) {
    encoding.name = name;
    report.arrays.push_back(std::move(encoding));
  }
}

void add_limits(TopReport& report, const Changes& changes) {
  changes.each("tessera_limit_hits_total", [&](const MetricSample& sample, double change) {
    report.limits[std::string(sample.label("limit"))] = {sample.value, change / report.seconds};
  });
}

void add_gpu(TopReport& report, const MetricsText& now) {
  if (const std::optional<double> leases = now.value("tessera_export_leases")) {
    report.gpu = TopReport::Gpu{*leases, now.value("tessera_export_bytes").value_or(0),
                                now.value("tessera_gpu_pool_used_bytes").value_or(0),
                                now.value("tessera_gpu_pool_idle_bytes").value_or(0)};
  }
}

}  // namespace

TopReport make_top_report(const std::string& url, const TopLook* before, const TopLook& now) {
  constexpr std::string_view kStart = "process_start_time_seconds";
  const auto value = [&](std::string_view name) { return now.metrics.value(name).value_or(0); };
  TopReport report;
  report.url = url;
  for (const MetricSample& sample : now.metrics.samples) {
    if (sample.name == "tessera_build_info") {
      report.version = sample.label("version");
    }
  }
  report.uptime_s = std::max(0.0, now.at_s - value(kStart));
  if (before != nullptr && before->metrics.value(kStart) != now.metrics.value(kStart)) {
    before = nullptr;
  }
  report.is_since_start = before == nullptr;
  report.seconds = std::max(kShortestSeconds, before != nullptr ? now.at_s - before->at_s : report.uptime_s);
  report.workers = value("tessera_workers");
  report.busy_workers = value("tessera_workers_busy");
  report.waiting_calls = value("tessera_calls_waiting");
  report.codecs = value("tessera_codecs");
  report.busy_codecs = value("tessera_codecs_busy");
  report.waiting_codecs = value("tessera_codecs_waiting");
  report.connections = value("tessera_connections");
  report.bodies_bytes = value("tessera_bodies_bytes");
  report.bodies_limit_bytes = value("tessera_bodies_limit_bytes");
  report.pool_used_bytes = value("tessera_buffer_pool_used_bytes");
  report.pool_idle_bytes = value("tessera_buffer_pool_idle_bytes");
  report.cut_off = value("tessera_requests_cut_off_total");
  const Changes changes(before != nullptr ? &before->metrics : nullptr, now.metrics, report.seconds);
  report.received_bytes = changes.rate("tessera_received_bytes_total");
  report.sent_bytes = changes.rate("tessera_sent_bytes_total");
  add_endpoints(report, changes);
  add_parts(report, changes);
  add_arrays(report, changes);
  add_limits(report, changes);
  add_gpu(report, now.metrics);
  return report;
}

}  // namespace tessera
