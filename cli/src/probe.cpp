#include "probe.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string_view>
#include <utility>

#include "tessera/sdk/array_input.h"

namespace tessera {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::int64_t kLargeBytes = std::int64_t{16} << 20;
// What must travel for a speed to be one.
constexpr std::size_t kFewestBytes = std::size_t{64} << 10U;
// Of each figure: rounds, and the time that they may take.
constexpr int kMostRounds = 51;
constexpr int kLargeRounds = 5;
constexpr Seconds kTimePerFigure{0.5};

// The median of some rounds of a piece of work.
Seconds median_time(int rounds, const std::function<void()>& work) {
  std::vector<Seconds> times;
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round != rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const auto end = std::chrono::steady_clock::now();
    times.emplace_back(end - start);
    if (end - begin > kTimePerFigure && round >= 2) {
      break;
    }
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

double microseconds(Seconds time) {
  return time.count() * 1e6;
}

const Value* member_at(const Value& root, std::initializer_list<std::string_view> path) {
  const Value* value = &root;
  for (const std::string_view key : path) {
    value = value->kind() == Value::Kind::kObject ? value->object().find(key) : nullptr;
    if (value == nullptr) {
      return nullptr;
    }
  }
  return value;
}

std::string text_at(const Value& root, std::initializer_list<std::string_view> path) {
  const Value* const value = member_at(root, path);
  return value != nullptr && value->kind() == Value::Kind::kText ? value->text() : "";
}

// Sends an array in a call that is refused. Throws ClientError if it failed in another way.
void send_in_vain(const Tesseract& tesseract, const ArrayInput& input, const Array& array) {
  try {
    static_cast<void>(tesseract.apply({{input.name, array}, {kUnknownInput, nullptr}}));
  } catch (const ClientError& error) {
    const bool has_arrived =
        error.kind() == ClientError::Kind::kRefused &&
        std::ranges::none_of(error.items(), [](const RefusedItem& item) { return item.type.starts_with("array_"); });
    if (!has_arrived) {
      throw;
    }
  }
}

// Does the work of a row; an error becomes its reason.
ProbeRow row_of(std::string name, const std::function<void(ProbeRow&)>& work) {
  ProbeRow row;
  row.name = std::move(name);
  try {
    work(row);
    row.works = row.reason.empty() || row.works;
  } catch (const ClientError& error) {
    row.works = false;
    row.reason = error.what();
  }
  return row;
}

void measure_sending(const Tesseract& tesseract, const std::optional<ArrayInput>& input, ProbeRow& row) {
  row.works = true;
  if (!input) {
    row.reason = "no figure: the Tesseract has no input that takes an array of any size; give --apply PAYLOAD";
    return;
  }
  const Array small = Array::zeros(input->dtype, input->shape_of(1));
  send_in_vain(tesseract, *input, small);
  row.microseconds = microseconds(median_time(kMostRounds, [&] { send_in_vain(tesseract, *input, small); }));
  const Array large = Array::zeros(
      input->dtype, input->shape_of(kLargeBytes / static_cast<std::int64_t>(item_size_bytes(input->dtype))));
  send_in_vain(tesseract, *input, large);
  const Seconds time = median_time(kLargeRounds, [&] { send_in_vain(tesseract, *input, large); });
  row.gigabytes_per_second = static_cast<double>(large.size_bytes()) / time.count() / 1e9;
}

bool offers(const ServerCapabilities::Names& names, std::string_view name) {
  return names && std::ranges::find(*names, name) != names->end();
}

ProbeRow probe_gpu(const Tesseract& tesseract) {
  return row_of("cuda_ipc: GPU arrays stay on the GPU", [&](ProbeRow& row) {
    if (!offers(tesseract.server_capabilities().gpu_transports, "cuda_ipc")) {
      row.reason = "the server does not offer it (tessera serve --gpu-transport cuda_ipc)";
      return;
    }
    const Tesseract view = tesseract.with_encoding({.gpu_transport = "cuda_ipc"});
    const auto begin = std::chrono::steady_clock::now();
    static_cast<void>(view.resolve_gpu_transport());
    row.microseconds = microseconds(std::chrono::steady_clock::now() - begin);
  });
}

// Runs the payload in one encoding.
ProbeRow probe_apply(const Tesseract& tesseract, const std::string& format, const std::string& compression,
                     const std::string& payload) {
  return row_of(
      "apply, answer as " + format + (compression == "none" ? "" : " with " + compression), [&](ProbeRow& row) {
        const Tesseract view = tesseract.with_encoding({.output_format = format, .compression = compression});
        std::size_t bytes = payload.size() + view.call_text("apply", payload).size();
        const Seconds time =
            median_time(kMostRounds, [&] { bytes = payload.size() + view.call_text("apply", payload).size(); });
        row.microseconds = microseconds(time);
        // Of a few bytes it would say nothing.
        if (bytes >= kFewestBytes) {
          row.gigabytes_per_second = static_cast<double>(bytes) / time.count() / 1e9;
        }
      });
}

}  // namespace

ProbeResult probe(const std::string& url, const ProbeOptions& options) {
  std::string warning;
  ClientOptions client = options.client;
  client.warn = [&warning](std::string_view sentence) { warning = sentence; };
  const Tesseract tesseract = Tesseract::from_url(url, std::move(client));
  ProbeResult result;
  result.url = tesseract.url();
  const Value& document = tesseract.openapi_schema();
  result.title = text_at(document, {"info", "title"});
  result.version = text_at(document, {"info", "version"});
  result.endpoints = tesseract.available_endpoints();
  result.capabilities = tesseract.server_capabilities();

  result.rows.push_back(row_of("connection: GET /health", [&](ProbeRow& row) {
    row.microseconds = microseconds(median_time(kMostRounds, [&] { static_cast<void>(tesseract.health()); }));
  }));
  const std::optional<ArrayInput> input = find_array_input(tesseract.input_schema());
  result.rows.push_back(row_of("base64: arrays sent", [&](ProbeRow& row) { measure_sending(tesseract, input, row); }));
  result.rows.push_back(row_of("binref: arrays sent as files", [&](ProbeRow& row) {
    if (!options.client.server_input_path) {
      row.reason = "give --server-input-path, the folder that the server reads from, as this machine has it";
      return;
    }
    measure_sending(tesseract.with_encoding({.output_format = "json+binref"}), input, row);
    if (!warning.empty()) {
      // They went as base64 then.
      row.works = false;
      row.reason = warning;
      row.microseconds = row.gigabytes_per_second = std::nullopt;
    }
  }));
  result.rows.push_back(probe_gpu(tesseract));
  if (options.apply_payload) {
    for (const std::string& format : result.capabilities.output_formats.value_or(std::vector<std::string>{"json"})) {
      for (const std::string& compression :
           result.capabilities.compressions.value_or(std::vector<std::string>{"none"})) {
        if (format != "json" || compression == "none") {
          result.rows.push_back(probe_apply(tesseract, format, compression, *options.apply_payload));
        }
      }
    }
  }
  return result;
}

}  // namespace tessera
