// Micro benchmarks of what a small request costs a daemon beside HTTP: reading a body by a schema, metrics, a log line.
//
// Each stands below its floor: the least that the same could cost on this machine, measured in the same run. be_seen
// has a goal instead, which compare.py holds it to.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>
#include <variant>

#include "metrics.h"
#include "request_id.h"
#include "request_record.h"
#include "tessera/array/array_reader.h"
#include "tessera/array/json_scanner.h"
#include "tessera/base/clock.h"
#include "tessera/base/log.h"
#include "tessera/base/unique_fd.h"
#include "tessera/tesseract/call.h"
#include "tessera/tesseract/definition.h"

namespace tessera {
namespace {

constexpr std::string_view kSmallBody = R"({"inputs":{"x":[1.0,2.0,3.0]}})";

Schema vectors(const std::string& name) {
  return Schema(name).field("x", array(DType::kFloat32, {kFreeAxis}).differentiable(), "Numbers.");
}

// Twenty fields of plain kinds, two levels deep.
Schema settings(const std::string& name) {
  Schema level("Level");
  for (int i = 0; i != 5; ++i) {
    const std::string number = std::to_string(i);
    level.field("text" + number, text().max_length(20), "A word.", "none")
        .field("count" + number, integer().at_least(0).at_most(1000), "How many.", 7);
  }
  return Schema(name).field("first", object(level), "One.").field("second", object(level), "The other.");
}

std::string settings_body() {
  std::string level;
  for (int i = 0; i != 5; ++i) {
    const std::string number = std::to_string(i);
    level += level.empty() ? "{" : ",";
    level.append(R"("text)").append(number).append(R"(":"steel","count)").append(number).append(R"(":12)");
  }
  level += '}';
  return R"({"inputs":{"first":)" + level + R"(,"second":)" + level + "}}";
}

TesseractDefinition definition_of(Schema (*schema)(const std::string&)) {
  TesseractDefinition definition("bench");
  definition.inputs(schema("InputSchema"));
  definition.outputs(schema("OutputSchema"));
  definition.apply([](const Object& inputs, Context& /*context*/) { return inputs; });
  return definition;
}

void skip_body(benchmark::State& state, const std::string& body) {
  for (auto _ : state) {
    JsonScanner scanner(body);
    benchmark::DoNotOptimize(scanner.skip_value());
  }
  state.SetLabel("floor of the next");
}

void read_body(benchmark::State& state, const TesseractDefinition& definition, const std::string& body) {
  const ArrayReader arrays(nullptr, {});
  for (auto _ : state) {
    const CallOrFault call = read_call(definition, Endpoint::kApply, body, arrays);
    if (!std::holds_alternative<Call>(call)) {
      state.SkipWithError("refused");
      return;
    }
  }
}

void skip_small_body(benchmark::State& state) {
  skip_body(state, std::string(kSmallBody));
}
void read_small_body(benchmark::State& state) {
  read_body(state, definition_of(vectors), std::string(kSmallBody));
}
void skip_twenty_fields(benchmark::State& state) {
  skip_body(state, settings_body());
}
void read_twenty_fields(benchmark::State& state) {
  read_body(state, definition_of(settings), settings_body());
}
BENCHMARK(skip_small_body);
BENCHMARK(read_small_body);
BENCHMARK(skip_twenty_fields);
BENCHMARK(read_twenty_fields);

RequestReport some_report() {
  RequestReport report;
  report.id = "0b0d1a52-2b7c-4f0e-9a3c-6d1f0e8b7a55";
  report.method = "POST";
  report.target = "/apply";
  report.peer = "127.0.0.1:41234";
  report.status = 200;
  report.is_sent = true;
  report.received_bytes = 180;
  report.sent_bytes = 320;
  report.route = {RouteKind::kApply, 0};
  report.tesseract = "bench";
  report.arrays_in.add(ArrayEncoding::kJson, 12);
  report.arrays_out.add(ArrayEncoding::kJson, 12);
  Clock::Instant now{};
  report.times.begin(now);
  for (std::size_t part = 0; part != kRequestPartCount; ++part) {
    now += std::chrono::microseconds(5);
    report.times.end(static_cast<RequestPart>(part), now);
  }
  return report;
}

// The metrics of a request without any: it still has a time for each of its parts.
void read_clock_for_each_part(benchmark::State& state) {
  const SystemClock clock;
  for (auto _ : state) {
    for (std::size_t part = 0; part != kRequestPartCount; ++part) {
      benchmark::DoNotOptimize(clock.now());
    }
  }
  state.SetLabel("floor of the next");
}
BENCHMARK(read_clock_for_each_part);

void count_request(benchmark::State& state) {
  Metrics metrics({"bench"}, Clock::WallTime());
  const RequestReport report = some_report();
  for (auto _ : state) {
    metrics.count_answer(report);
    metrics.count_end(report);
  }
}
BENCHMARK(count_request);

void print_metrics(benchmark::State& state) {
  Metrics metrics({"bench"}, Clock::WallTime());
  metrics.count_answer(some_report());
  metrics.count_end(some_report());
  std::size_t size = 0;
  for (auto _ : state) {
    size = metrics.to_text(nullptr).size();
  }
  // To copy as much memory takes that long, at 9.7 GB/s.
  state.SetLabel(std::to_string(size) + " bytes, floor " + std::to_string(size * 10 / 97) + " ns (to copy them)");
}
BENCHMARK(print_metrics);

UniqueFd nowhere() {
  return UniqueFd::adopt(::open("/dev/null", O_WRONLY | O_CLOEXEC));
}

void write_to_nowhere(benchmark::State& state) {
  const UniqueFd target = nowhere();
  const std::string line(400, 'x');
  for (auto _ : state) {
    benchmark::DoNotOptimize(::write(target.value(), line.data(), line.size()));
  }
  state.SetLabel("floor of the next");
}
BENCHMARK(write_to_nowhere);

void log_request(benchmark::State& state, LogLevel lowest, LogStyle style) {
  const UniqueFd target = nowhere();
  const SystemClock clock;
  const auto logger = make_descriptor_logger(target.value(), lowest, style, clock);
  const RequestReport report = some_report();
  for (auto _ : state) {
    log_end(*logger, report);
  }
}
void log_request_as_text(benchmark::State& state) {
  log_request(state, LogLevel::kDebug, LogStyle::kText);
}
void log_request_as_json(benchmark::State& state) {
  log_request(state, LogLevel::kDebug, LogStyle::kJson);
}
void log_no_request(benchmark::State& state) {
  log_request(state, LogLevel::kInfo, LogStyle::kText);
}
BENCHMARK(log_request_as_text);
BENCHMARK(log_request_as_json);
BENCHMARK(log_no_request);

// All that a small call pays for being seen: an id in its answer, looks at the clock between its parts, counts, and a
// line that is not logged.
void be_seen(benchmark::State& state) {
  const UniqueFd target = nowhere();
  const SystemClock system_clock;
  const Clock& clock = system_clock;
  const auto logger = make_descriptor_logger(target.value(), LogLevel::kInfo, LogStyle::kText, clock);
  Metrics metrics({"bench"}, Clock::WallTime());
  RequestReport report = some_report();
  RequestId id;
  std::string head;
  for (auto _ : state) {
    report.times.begin(clock.now());
    report.times.skip(RequestPart::kWait);
    for (const RequestPart part : {RequestPart::kReceive, RequestPart::kDecode, RequestPart::kCompute,
                                   RequestPart::kEncode, RequestPart::kSend}) {
      report.times.end(part, clock.now());
    }
    report.id = id.make();
    head.assign("x-request-id: ").append(report.id).append("\r\n");
    benchmark::DoNotOptimize(head.data());
    metrics.count_answer(report);
    metrics.count_end(report);
    log_end(*logger, report);
  }
  state.SetLabel("goal: 2 % of a small call");
}
BENCHMARK(be_seen);

}  // namespace
}  // namespace tessera
