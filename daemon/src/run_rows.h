// The text formats of a run's files: rows of metrics.csv, the document parameters.json (PROTOCOL.md section 13.1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/array/value.h"
#include "tessera/base/clock.h"

namespace tessera {

/// The first row of metrics.csv.
inline constexpr std::string_view kMetricsHeader = "timestamp,key,value,step\r\n";

/// `2026-11-29T18:50:14.381096,loss,0.5,0` and CRLF; local time, the key quoted where CSV needs it.
[[nodiscard]] std::string metrics_row(Clock::WallTime time, std::string_view key, double value, std::int64_t step);

/// The parameters as JSON with an indent of two spaces and no newline at the end. Arrays are shown as a word.
[[nodiscard]] std::string parameters_document(const Object& parameters);

}  // namespace tessera
