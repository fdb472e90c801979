#include "metrics.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "prometheus_text.h"
#include "tessera/array/buffer.h"
#include "tessera/base/python_text.h"

namespace tessera {
namespace {

constexpr std::size_t kMostShards = 16;

// Threads are numbered as they come, so that each of the first few has a shard of its own.
std::size_t number_of_this_thread() {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t kNumber = next.fetch_add(1, std::memory_order_relaxed);
  return kNumber;
}

}  // namespace

Metrics::Metrics(std::vector<std::string> tesseracts, Clock::WallTime start)
    : tesseracts_(std::move(tesseracts)),
      start_(start),
      statuses_(std::make_unique<StatusCounts[]>(series_count())),
      shards_(std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostShards)) {
  for (Shard& shard : shards_) {
    shard.whole = std::make_unique<TimeHistogram[]>(series_count());
  }
}

std::size_t Metrics::series_of(const Route& route) {
  const std::size_t tesseract = route.tesseract ? *route.tesseract + 1 : 0;
  return tesseract * kRouteKindCount + static_cast<std::size_t>(route.kind);
}

std::string Metrics::labels_of(std::size_t series) const {
  const std::size_t tesseract = series / kRouteKindCount;
  std::string labels = "tesseract=\"";
  labels.append(tesseract == 0 ? "" : tesseracts_[tesseract - 1]).append("\",endpoint=\"");
  return labels.append(name_of(static_cast<RouteKind>(series % kRouteKindCount))).append("\"");
}

Metrics::Shard& Metrics::shard_of_this_thread() {
  return shards_[number_of_this_thread() % shards_.size()];
}

void Metrics::count_answer(const RequestReport& report) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const int bounded = std::clamp(report.status, kLowestStatus, kHighestStatus);
  statuses_[series_of(report.route)].at(static_cast<std::size_t>(bounded - kLowestStatus)).fetch_add(1, kRelaxed);
  Shard& shard = shard_of_this_thread();
  for (std::size_t i = 0; i < kArrayEncodingCount; ++i) {
    if (report.arrays_in.bytes[i] > 0) {
      shard.arrays_in[i].fetch_add(report.arrays_in.bytes[i], kRelaxed);
    }
    if (report.arrays_out.bytes[i] > 0) {
      shard.arrays_out[i].fetch_add(report.arrays_out.bytes[i], kRelaxed);
    }
  }
}

void Metrics::count_end(const RequestReport& report) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  Shard& shard = shard_of_this_thread();
  if (!report.is_sent) {
    cut_off_.fetch_add(1, kRelaxed);
  }
  if (report.status != 0) {
    shard.whole[series_of(report.route)].add(report.times.whole());
  }
  auto& parts = shard.parts.at(static_cast<std::size_t>(report.route.kind));
  for (std::size_t part = 0; part < kRequestPartCount; ++part) {
    if (report.times.has(static_cast<RequestPart>(part))) {
      parts[part].add(report.times.of(static_cast<RequestPart>(part)));
    }
  }
  shard.received_bytes.fetch_add(report.received_bytes, kRelaxed);
  shard.sent_bytes.fetch_add(report.sent_bytes, kRelaxed);
}

std::string Metrics::to_text(const LoadSource* load) const {
  std::string text;
  append_process(text);
  if (load != nullptr) {
    append_load(text, load->load());
  }
  append_requests(text);
  append_times(text);
  append_bytes(text);
  append_limits(text);
  return text;
}

void Metrics::append_process(std::string& text) const {
  append_metric_head(text, "tessera_build_info", "gauge", "What runs here; always 1.");
  text += "tessera_build_info{version=\"" TESSERA_VERSION "\"} 1\n";
  const std::chrono::duration<double> start = start_.time_since_epoch();
  append_metric_head(text, "process_start_time_seconds", "gauge", "When this daemon started, in seconds since 1970.");
  text.append("process_start_time_seconds ").append(python_repr(start.count())).append("\n");
  const BufferPoolStats pool = buffer_pool_stats();
  append_gauge(text, "tessera_buffer_pool_used_bytes", "Array memory in use.", pool.used_bytes);
  append_gauge(text, "tessera_buffer_pool_idle_bytes", "Array memory kept for the next use.", pool.idle_bytes);
}

void Metrics::append_load(std::string& text, const ServerLoad& load) {
  append_gauge(text, "tessera_workers", "Calls that may compute at once.", load.workers);
  append_gauge(text, "tessera_workers_busy", "Calls that compute.", load.busy_workers);
  append_gauge(text, "tessera_calls_waiting", "Calls that wait for a worker.", load.waiting_calls);
  append_gauge(text, "tessera_codecs", "Requests that may decode or encode large bodies at once.", load.codecs);
  append_gauge(text, "tessera_codecs_busy", "Requests that decode or encode large bodies.", load.busy_codecs);
  append_gauge(text, "tessera_codecs_waiting", "Requests that wait to do so.", load.waiting_codecs);
  append_gauge(text, "tessera_connections", "Open connections.", load.connections);
  append_gauge(text, "tessera_bodies_bytes", "What has come of the bodies of unanswered requests.", load.body_bytes);
  append_gauge(text, "tessera_bodies_limit_bytes", "What may come of them.", load.body_limit_bytes);
}

void Metrics::append_requests(std::string& text) const {
  append_metric_head(text, "tessera_requests_total", "counter",
                     "Requests answered, by Tesseract, endpoint and status.");
  for (std::size_t series = 0; series < series_count(); ++series) {
    for (std::size_t i = 0; i < statuses_[series].size(); ++i) {
      const std::uint64_t count = statuses_[series].at(i).load(std::memory_order_relaxed);
      if (count > 0) {
        text.append("tessera_requests_total{").append(labels_of(series)).append(",status=\"");
        text.append(std::to_string(kLowestStatus + static_cast<int>(i))).append("\"} ");
        text.append(std::to_string(count)).append("\n");
      }
    }
  }
  append_counter(text, "tessera_requests_cut_off_total",
                 "Requests whose answer did not go out whole, if there was one.",
                 cut_off_.load(std::memory_order_relaxed));
}

void Metrics::append_times(std::string& text) const {
  append_metric_head(text, "tessera_request_seconds", "histogram",
                     "From the first byte of a request to the last of its answer.");
  for (std::size_t series = 0; series < series_count(); ++series) {
    HistogramCounts counts;
    for (const Shard& shard : shards_) {
      shard.whole[series].add_to(counts);
    }
    append_histogram(text, "tessera_request_seconds", labels_of(series), counts);
  }
  append_metric_head(text, "tessera_request_part_seconds", "histogram", "The same in parts, by endpoint.");
  for (std::size_t kind = 0; kind < kRouteKindCount; ++kind) {
    for (std::size_t part = 0; part < kRequestPartCount; ++part) {
      HistogramCounts counts;
      for (const Shard& shard : shards_) {
        shard.parts.at(kind).at(part).add_to(counts);
      }
      std::string labels = "endpoint=\"";
      labels.append(name_of(static_cast<RouteKind>(kind))).append("\",part=\"");
      labels.append(name_of(static_cast<RequestPart>(part))).append("\"");
      append_histogram(text, "tessera_request_part_seconds", labels, counts);
    }
  }
}

template <class Pick>
std::uint64_t Metrics::sum_of(Pick pick) const {
  std::uint64_t sum = 0;
  for (const Shard& shard : shards_) {
    sum += pick(shard).load(std::memory_order_relaxed);
  }
  return sum;
}

void Metrics::append_bytes(std::string& text) const {
  append_counter(text, "tessera_received_bytes_total", "Bytes of requests, heads and bodies.",
                 sum_of([](const Shard& shard) -> const Count& { return shard.received_bytes; }));
  append_counter(text, "tessera_sent_bytes_total", "Bytes of answers, heads and bodies.",
                 sum_of([](const Shard& shard) -> const Count& { return shard.sent_bytes; }));
  const auto append_arrays = [&](std::string_view name, std::string_view help, ArrayCounts Shard::* counts) {
    append_metric_head(text, name, "counter", help);
    for (std::size_t i = 0; i < kArrayEncodingCount; ++i) {
      append_sample(text, name, "encoding", name_of(static_cast<ArrayEncoding>(i)),
                    sum_of([&](const Shard& shard) -> const Count& { return (shard.*counts).at(i); }));
    }
  };
  append_arrays("tessera_array_received_bytes_total",
                "Bytes of arrays received, as they are in memory, by the encoding that they came in.",
                &Shard::arrays_in);
  append_arrays("tessera_array_sent_bytes_total",
                "Bytes of arrays sent, as they are in memory, by the encoding that they went in.", &Shard::arrays_out);
}

void Metrics::append_limits(std::string& text) const {
  append_metric_head(text, "tessera_limit_hits_total", "counter", "Times that a limit was hit, by its name.");
  for (std::size_t i = static_cast<std::size_t>(Limit::kNone) + 1; i < kLimitCount; ++i) {
    const auto limit = static_cast<Limit>(i);
    append_sample(text, "tessera_limit_hits_total", "limit", name_of(limit), limits_.count(limit));
  }
}

}  // namespace tessera
