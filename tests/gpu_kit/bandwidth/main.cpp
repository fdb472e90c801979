// How long it takes to hand an array over: export in one process, import and copy in another, by size. Cold is an
// allocation that was never opened; warm is the same memory again, as in a steady workload.
#include <algorithm>
#include <chrono>
#include <iomanip>
#include <sstream>
#include <vector>

#include "exporter/byte_arrays.h"
#include "exporter/exporter.h"
#include "rows/rows.h"
#include "tessera/base/clock.h"
#include "tessera/cuda/device_memory.h"
#include "tessera/ipc/gpu_transport.h"

namespace tessera::gpu_kit {
namespace {

using Timer = std::chrono::steady_clock;

double microseconds_since(Timer::time_point begin) {
  return std::chrono::duration<double, std::micro>(Timer::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// One side of the table: what an exporter with or without a pool makes is imported here.
class Side {
 public:
  Side(Exporter::Pool pool, const Clock& clock) : exporter_(pool) {
    GpuSystem::Options options;
    if (pool == Exporter::Pool::kNone) {
      options.pool_fraction = 0.0;
      options.idle_mapping_bytes = 0;
    }
    gpus_ = GpuSystem::open(options, clock);
    transport_ = make_cuda_ipc(gpus_);
  }

  [[nodiscard]] GpuSystem& gpus() { return *gpus_; }

  struct Times {
    double export_us = 0.0;
    double import_us = 0.0;  // with the copy
  };
  enum class Compare { kNo, kYes };
  Times hand_over(std::size_t size_bytes, std::uint64_t seed, Compare does_compare) {
    const Exporter::Export exported = exporter_.make(size_bytes, seed);
    const auto begin = Timer::now();
    const Result<ImportedArray> imported = import(exported.reference, size_bytes, GpuTransport::Borrow::kNo);
    const double import_us = microseconds_since(begin);
    const Array array = must(imported).array;
    if (does_compare == Compare::kYes) {
      if (const std::optional<std::string> problem = compare(array, size_bytes, seed)) {
        throw std::runtime_error(*problem);
      }
    }
    return {exported.microseconds, import_us};
  }

  // The copy alone, from the exporter's memory.
  double copy(std::size_t size_bytes, int times) {
    const ImportedArray borrowed =
        must(import(exporter_.make(size_bytes, 1).reference, size_bytes, GpuTransport::Borrow::kYes));
    const std::shared_ptr<const Gpu>& gpu = gpus_->gpus().front();
    const Array target = must(gpus_->allocate(gpu->uuid(), DType::kUInt8, {static_cast<std::int64_t>(size_bytes)}));
    std::vector<double> all;
    for (int i = 0; i < times; ++i) {
      const auto begin = Timer::now();
      must(copy_on_device(*gpu, target.device()->address(), borrowed.array.device()->address(), size_bytes));
      all.push_back(microseconds_since(begin));
    }
    return median(std::move(all));
  }

 private:
  Result<ImportedArray> import(const std::string& reference, std::size_t size_bytes, GpuTransport::Borrow borrow) {
    return transport_->import_array(reference, DType::kUInt8, {static_cast<std::int64_t>(size_bytes)}, borrow);
  }

  Exporter exporter_;
  std::shared_ptr<GpuSystem> gpus_;
  std::unique_ptr<GpuTransport> transport_;
};

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

// The middle of several hand-overs; the bytes of the first are compared.
Side::Times middle(Side& side, std::size_t size_bytes, int times) {
  std::vector<double> exports;
  std::vector<double> imports;
  for (int i = 0; i < times; ++i) {
    const Side::Times one = side.hand_over(size_bytes, static_cast<std::uint64_t>(i) * 7 + 1,
                                           i == 0 ? Side::Compare::kYes : Side::Compare::kNo);
    exports.push_back(one.export_us);
    imports.push_back(one.import_us);
  }
  return {median(std::move(exports)), median(std::move(imports))};
}

void measure(std::size_t size_bytes, Side& cold_side, Side& warm_side, Rows& rows) {
  // The bytes of large arrays are made on the host, which takes longest.
  const int times = size_bytes <= (std::size_t{1} << 20U) ? 15 : size_bytes <= (std::size_t{64} << 20U) ? 5 : 2;
  const Side::Times cold = middle(cold_side, size_bytes, std::min(times, 5));
  static_cast<void>(warm_side.hand_over(size_bytes, 3, Side::Compare::kNo));
  const Side::Times warm = middle(warm_side, size_bytes, times);
  const double copy_us = warm_side.copy(size_bytes, 15);
  const double cold_us = cold.export_us + cold.import_us;
  const double warm_us = warm.export_us + warm.import_us;
  const auto gb_per_s = [size_bytes](double us) { return static_cast<double>(size_bytes) / us / 1e3; };
  rows.answer(size_text(size_bytes),
              "cold " + fixed(cold_us, 1) + " us (export " + fixed(cold.export_us, 1) + "), warm " + fixed(warm_us, 1) +
                  " us (export " + fixed(warm.export_us, 1) + "), copy alone " + fixed(copy_us, 1) +
                  " us: " + fixed(100.0 * copy_us / cold_us, 0) + " % of cold, " + fixed(100.0 * copy_us / warm_us, 0) +
                  " % of warm; warm " + fixed(gb_per_s(warm_us), 2) + " GB/s",
              {{"bytes", size_bytes},
               {"cold_export_us", cold.export_us},
               {"cold_import_us", cold.import_us},
               {"warm_export_us", warm.export_us},
               {"warm_import_us", warm.import_us},
               {"copy_us", copy_us},
               {"copy_share_cold", copy_us / cold_us},
               {"copy_share_warm", copy_us / warm_us},
               {"warm_gb_per_s", gb_per_s(warm_us)}});
}

int run() {
  Rows rows;
  const SystemClock clock;
  Side warm_side(Exporter::Pool::kKept, clock);
  if (const std::optional<TransportProblem>& problem = warm_side.gpus().problem()) {
    rows.skipped("bandwidth", problem->sentence);
    return 0;
  }
  Side cold_side(Exporter::Pool::kNone, clock);
  for (std::size_t size_bytes = 1024; size_bytes <= most_bytes(); size_bytes *= 4) {
    try {
      measure(size_bytes, cold_side, warm_side, rows);
    } catch (const std::exception& error) {
      rows.failed(size_text(size_bytes), error.what());
    }
  }
  return rows.has_failed() ? 1 : 0;
}

}  // namespace
}  // namespace tessera::gpu_kit

int main(int count, char** arguments) {
  return tessera::gpu_kit::run_or_export({arguments, static_cast<std::size_t>(count)}, tessera::gpu_kit::run);
}
