// Micro benchmarks of the array codecs: base64, lz4, JSON numbers, a whole array object read and written.
//
// A label is the floor: what a good implementation of the same, or the memory, took on a machine of two cores with AVX2
// when the project began. copy_memory says what this machine's memory does; its floor is known for 64 MiB alone.

#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tessera/array/array_reader.h"
#include "tessera/array/base64.h"
#include "tessera/array/json_number.h"
#include "tessera/array/json_scanner.h"
#include "tessera/array/lz4_frame.h"
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

// A floor in bytes a second, by the size of what is processed.
void set_floor(benchmark::State& state, double small, double medium, double large) {
  const double floor = state.range(0) < (1 << 20) ? small : (state.range(0) < (64 << 20) ? medium : large);
  state.SetLabel("floor " + std::to_string(floor).substr(0, 4) + " GB/s");
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}

void copy_memory(benchmark::State& state) {
  const std::vector<std::byte> bytes = some_bytes(static_cast<std::size_t>(state.range(0)));
  std::vector<std::byte> copy(bytes.size());
  for (auto _ : state) {
    std::memcpy(copy.data(), bytes.data(), bytes.size());
    benchmark::DoNotOptimize(copy.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
  if (state.range(0) == (64 << 20)) {
    state.SetLabel("floor 9.7 GB/s");
  }
}
BENCHMARK(copy_memory)->Arg(768)->Arg(1 << 20)->Arg(64 << 20);

void encode_base64(benchmark::State& state) {
  const std::vector<std::byte> bytes = some_bytes(static_cast<std::size_t>(state.range(0)));
  std::string text(base64_length(bytes.size()), '\0');
  for (auto _ : state) {
    base64_encode(bytes, text.data());
    benchmark::DoNotOptimize(text.data());
  }
  set_floor(state, 9.6, 14.0, 8.0);
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
  set_floor(state, 10.2, 13.9, 6.7);
}
BENCHMARK(decode_base64)->Arg(768)->Arg(1 << 20)->Arg(64 << 20);

void compress_lz4(benchmark::State& state) {
  const std::vector<std::byte> bytes = some_bytes(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(lz4_compress(bytes).data());
  }
  set_floor(state, 7.4, 7.4, 7.4);
}
BENCHMARK(compress_lz4)->Arg(1 << 20)->Arg(64 << 20);

void decompress_lz4(benchmark::State& state) {
  std::vector<std::byte> bytes = some_bytes(static_cast<std::size_t>(state.range(0)));
  const Buffer frame = lz4_compress(bytes);
  for (auto _ : state) {
    if (!lz4_decompress(frame.bytes(), bytes)) {
      state.SkipWithError("refused");
    }
  }
  set_floor(state, 9.7, 9.7, 9.7);
}
BENCHMARK(decompress_lz4)->Arg(1 << 20)->Arg(64 << 20);

// Numbers as people have them: no pattern in their digits.
std::vector<double> some_numbers(std::size_t count) {
  std::vector<double> numbers(count);
  std::uint64_t state = 1;
  for (double& number : numbers) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    number = static_cast<double>(state >> 11U) / static_cast<double>(std::uint64_t{1} << 50U) - 4.0;
  }
  return numbers;
}

void print_number(benchmark::State& state) {
  const std::vector<double> numbers = some_numbers(4096);
  std::array<char, kMaxDoubleLength> text{};
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(write_json_double(text.data(), numbers[i++ % numbers.size()]));
  }
  state.SetLabel("floor 59 ns (std::to_chars)");
}
BENCHMARK(print_number);

void scan_number(benchmark::State& state) {
  std::vector<std::string> texts;
  for (const double number : some_numbers(4096)) {
    std::array<char, kMaxDoubleLength> text{};
    texts.emplace_back(text.data(), write_json_double(text.data(), number));
  }
  std::size_t i = 0;
  for (auto _ : state) {
    JsonScanner scanner(texts[i++ % texts.size()]);
    benchmark::DoNotOptimize(scanner.read_number().real);
  }
  state.SetLabel("floor 28 ns (std::from_chars)");
}
BENCHMARK(scan_number);

std::string written(const Array& array, OutputFormat format) {
  Body body;
  if (!write_value(Value(array), Encoding{.format = format}, {}, body)) {
    std::abort();
  }
  return body.to_string();
}

// The floor of a list of doubles is that of its numbers; of base64 it is known for 1 KiB, 1 MiB and 64 MiB.
void set_array_floor(benchmark::State& state, OutputFormat format, int number_ns, const char* number,
                     const char* small_base64) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
  if (format == OutputFormat::kJson) {
    const std::int64_t floor_ns = state.range(0) * number_ns;
    const std::string floor =
        floor_ns < 1'000'000 ? std::to_string(floor_ns) + " ns" : std::to_string(floor_ns / 1'000'000) + " ms";
    state.SetLabel("floor " + floor + " (" + number + ")");
    return;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0) * 8);
  state.SetLabel(state.range(0) < 1000 ? small_base64 : "floor 5.4 GB/s (64 MiB) to 10 GB/s (1 MiB)");
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
  set_array_floor(state, format, 28, "std::from_chars", "floor 140 ns (1 KiB)");
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
  set_array_floor(state, format, 59, "std::to_chars", "floor 120 ns (1 KiB)");
}
BENCHMARK_CAPTURE(write_array, json, OutputFormat::kJson)->Arg(3)->Arg(1'000'000);
BENCHMARK_CAPTURE(write_array, base64, OutputFormat::kBase64)->Arg(3)->Arg(1'000'000);

void make_random_id(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(RandomId::make().dashed());
  }
  state.SetLabel("floor 89 ns");
}
BENCHMARK(make_random_id);

}  // namespace
}  // namespace tessera
