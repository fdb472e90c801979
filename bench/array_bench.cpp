// Micro benchmarks of the array codecs: base64, JSON numbers, a whole array object read and written.

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "tessera/array/array_reader.h"
#include "tessera/array/base64.h"
#include "tessera/array/json_number.h"
#include "tessera/array/value_writer.h"
#include "tessera/base/random_id.h"

namespace tessera {
namespace {

std::vector<std::byte> some_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint32_t state = 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

void encode_base64(benchmark::State& state) {
  const std::vector<std::byte> bytes = some_bytes(static_cast<std::size_t>(state.range(0)));
  std::string text(base64_length(bytes.size()), '\0');
  for (auto _ : state) {
    base64_encode(bytes, text.data());
    benchmark::DoNotOptimize(text.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(encode_base64)->Arg(768)->Arg(1 << 20)->Arg(64 << 20);

void decode_base64(benchmark::State& state) {
  std::vector<std::byte> bytes = some_bytes(static_cast<std::size_t>(state.range(0)));
  std::string text(base64_length(bytes.size()), '\0');
  base64_encode(bytes, text.data());
  for (auto _ : state) {
    if (!base64_decode(text, bytes)) {
      state.SkipWithError("refused");
    }
    benchmark::DoNotOptimize(bytes.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(decode_base64)->Arg(768)->Arg(1 << 20)->Arg(64 << 20);

std::string written(const Array& array, OutputFormat format) {
  Body body;
  if (!write_value(Value(array), Encoding{.format = format}, {}, body)) {
    std::abort();
  }
  return body.to_string();
}

// The request side: from text to an array.
void read_array(benchmark::State& state, OutputFormat format) {
  const std::vector<std::byte> bytes = some_bytes(static_cast<std::size_t>(state.range(0)) * 2);
  Array array = Array::allocate(DType::kFloat64, {state.range(0)});
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.range(0)); ++i) {
    array.mutable_values<double>()[i] = static_cast<double>(std::to_integer<int>(bytes[2 * i])) / 7.0;
  }
  const std::string text = written(array, format);
  const ArrayReader reader(nullptr, {});
  const ArraySpec spec{.dtype = DType::kFloat64, .shape = Shape{kFreeAxis}};
  for (auto _ : state) {
    JsonScanner scanner(text);
    benchmark::DoNotOptimize(reader.read(scanner, spec));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK_CAPTURE(read_array, json, OutputFormat::kJson)->Arg(3)->Arg(1'000'000);
BENCHMARK_CAPTURE(read_array, base64, OutputFormat::kBase64)->Arg(3)->Arg(1'000'000);

// The response side: from an array to text.
void write_array(benchmark::State& state, OutputFormat format) {
  Array array = Array::allocate(DType::kFloat64, {state.range(0)});
  double next = 0.1;
  for (double& element : array.mutable_values<double>()) {
    element = next;
    next = next * 1.000001 + 0.37;
  }
  std::vector<std::byte> scratch(256 << 10);
  for (auto _ : state) {
    Body body;
    if (!write_value(Value(array), Encoding{.format = format}, {}, body)) {
      state.SkipWithError("refused");
    }
    Body::Cursor cursor(body);
    for (auto piece = cursor.next(scratch); !piece.empty(); piece = cursor.next(scratch)) {
      benchmark::DoNotOptimize(piece.data());
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK_CAPTURE(write_array, json, OutputFormat::kJson)->Arg(3)->Arg(1'000'000);
BENCHMARK_CAPTURE(write_array, base64, OutputFormat::kBase64)->Arg(3)->Arg(1'000'000);

void make_random_id(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(RandomId::make().dashed());
  }
}
BENCHMARK(make_random_id);

}  // namespace
}  // namespace tessera
