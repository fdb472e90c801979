#include "metrics.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "prometheus_text.h"
#include "tessera/array/buffer.h"
#include "tessera/base/python_text.h"

namespace tessera {

Metrics::Metrics(std::vector<std::string> tesseracts, Clock::WallTime start)
    : tesseracts_(std::move(tesseracts)),
      start_(start),
      series_(std::make_unique<Counters[]>((tesseracts_.size() + 1) * kRouteKindCount)) {}

std::size_t Metrics::series_of(const Route& route) const {
  const std::size_t tesseract = route.tesseract ? *route.tesseract + 1 : 0;
  return tesseract * kRouteKindCount + static_cast<std::size_t>(route.kind);
}

void Metrics::count(const Route& route, int status) {
  const int bounded = std::clamp(status, kLowestStatus, kHighestStatus);
  series_[series_of(route)]
      .at(static_cast<std::size_t>(bounded - kLowestStatus))
      .fetch_add(1, std::memory_order_relaxed);
}

std::string Metrics::to_text() const {
  std::string text;
  append_metric_head(text, "tessera_build_info", "gauge", "What runs here; always 1.");
  text += "tessera_build_info{version=\"" TESSERA_VERSION "\"} 1\n";
  const std::chrono::duration<double> start = start_.time_since_epoch();
  append_metric_head(text, "process_start_time_seconds", "gauge", "When this daemon started, in seconds since 1970.");
  text.append("process_start_time_seconds ").append(python_repr(start.count())).append("\n");
  const BufferPoolStats pool = buffer_pool_stats();
  append_gauge(text, "tessera_buffer_pool_used_bytes", "Array memory in use.", pool.used_bytes);
  append_gauge(text, "tessera_buffer_pool_idle_bytes", "Array memory kept for the next use.", pool.idle_bytes);
  append_metric_head(text, "tessera_requests_total", "counter",
                     "Requests answered, by Tesseract, endpoint and status.");
  for (std::size_t series = 0; series < (tesseracts_.size() + 1) * kRouteKindCount; ++series) {
    const std::size_t tesseract = series / kRouteKindCount;
    const auto kind = static_cast<RouteKind>(series % kRouteKindCount);
    for (std::size_t i = 0; i < series_[series].size(); ++i) {
      const std::uint64_t count = series_[series].at(i).load(std::memory_order_relaxed);
      if (count > 0) {
        text.append("tessera_requests_total{tesseract=\"").append(tesseract == 0 ? "" : tesseracts_[tesseract - 1]);
        text.append("\",endpoint=\"").append(name_of(kind)).append("\",status=\"");
        text.append(std::to_string(kLowestStatus + static_cast<int>(i))).append("\"} ");
        text.append(std::to_string(count)).append("\n");
      }
    }
  }
  return text;
}

}  // namespace tessera
