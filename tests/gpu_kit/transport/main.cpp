// Hands GPU arrays over between two processes, by the code that the daemon runs, and compares every byte.
#include <functional>
#include <string>

#include "exporter/byte_arrays.h"
#include "exporter/exporter.h"
#include "rows/rows.h"
#include "tessera/base/clock.h"
#include "tessera/ipc/gpu_transport.h"

namespace tessera::gpu_kit {
namespace {

constexpr std::size_t kKiB = 1024;

class TransportTests {
 public:
  TransportTests(std::shared_ptr<GpuSystem> gpus, Rows& rows) : gpus_(std::move(gpus)), rows_(rows) {}

  void run() {
    check("an import copies what another process exported", [this] { return import_copies(); });
    check("a borrowed array is the exporter's memory", [this] { return import_borrows(); });
    check("an array that begins within an allocation is read from its own first byte",
          [this] { return import_applies_offset(); });
    check("a copy lives on when the exporter has dropped the array and made others",
          [this] { return copy_outlives_export(); });
    check("memory that is used again shows its new bytes", [this] { return reused_memory_is_new(); });
    check("a copy lives on when the exporter is killed", [this] { return copy_outlives_exporter(); });
    check("another process reads what this one exported", [this] { return other_reads(); });
    check("the own export is read without IPC", [this] { return own_export(); });
    check("an array without bytes crosses", [this] { return empty_array(); });
    check("an offset past the allocation is refused before CUDA sees it", [this] { return refuses_offset(); });
    check("a handle that was made up is refused, and all works on", [this] { return refuses_made_up(); });
    check("an export whose process is gone is refused, and all works on", [this] { return refuses_gone(); });
  }

 private:
  using Outcome = std::optional<std::string>;  // what is wrong

  void check(const std::string& name, const std::function<Outcome()>& test) {
    try {
      if (const Outcome problem = test()) {
        rows_.failed(name, *problem);
      } else {
        rows_.passed(name);
      }
    } catch (const std::exception& error) {
      rows_.failed(name, error.what());
    }
  }

  Result<ImportedArray> try_import(const std::string& reference, std::size_t size_bytes,
                                   GpuTransport::Borrow borrow = GpuTransport::Borrow::kNo) {
    return transport_->import_array(reference, DType::kUInt8, {static_cast<std::int64_t>(size_bytes)}, borrow);
  }
  ImportedArray import(const std::string& reference, std::size_t size_bytes,
                       GpuTransport::Borrow borrow = GpuTransport::Borrow::kNo) {
    return must(try_import(reference, size_bytes, borrow));
  }

  Outcome import_copies() {
    for (const std::size_t size_bytes : {std::size_t{1}, std::size_t{1000}, 64 * kKiB, 5 * kKiB * kKiB}) {
      const ImportedArray imported = import(exporter_.make(size_bytes, size_bytes).reference, size_bytes);
      if (imported.path != ImportedArray::Path::kCopied) {
        return "it took another way";
      }
      if (Outcome problem = compare(imported.array, size_bytes, size_bytes)) {
        return problem;
      }
    }
    return std::nullopt;
  }

  Outcome import_borrows() {
    const ImportedArray imported =
        import(exporter_.make(64 * kKiB, 7).reference, 64 * kKiB, GpuTransport::Borrow::kYes);
    return imported.path == ImportedArray::Path::kBorrowed ? compare(imported.array, 64 * kKiB, 7)
                                                           : Outcome("it was not borrowed");
  }

  Outcome import_applies_offset() {
    for (const std::size_t offset_bytes : {std::size_t{256}, 3 * kKiB * kKiB + 8}) {
      const ImportedArray imported = import(exporter_.make(9000, 5, offset_bytes).reference, 9000);
      if (Outcome problem = compare(imported.array, 9000, 5)) {
        return problem;
      }
    }
    return std::nullopt;
  }

  Outcome copy_outlives_export() {
    const ImportedArray imported = import(exporter_.make(9000, 11).reference, 9000);
    exporter_.drop();
    static_cast<void>(exporter_.make(9000, 12));
    return compare(imported.array, 9000, 11);
  }

  Outcome reused_memory_is_new() {
    for (std::uint64_t seed = 20; seed < 60; ++seed) {
      const ImportedArray imported = import(exporter_.make(9000, seed).reference, 9000);
      if (Outcome problem = compare(imported.array, 9000, seed)) {
        return problem;
      }
    }
    const TransportCounters counters = gpus_->counters();
    return counters.mapping_hits > 0 ? std::nullopt : Outcome("no mapping was used twice");
  }

  Outcome copy_outlives_exporter() {
    Exporter mortal(Exporter::Pool::kKept);
    const ImportedArray imported = import(mortal.make(9000, 13).reference, 9000);
    mortal.kill();
    return compare(imported.array, 9000, 13);
  }

  Outcome other_reads() {
    const Array array = bytes_on_gpu(*gpus_, 70000, 17);
    const ExportedArray exported = must(transport_->export_array(array));
    return exporter_.read(exported.reference, 70000, 17);
  }

  Outcome own_export() {
    const Array array = bytes_on_gpu(*gpus_, 70000, 19);
    const ExportedArray exported = must(transport_->export_array(array));
    const ImportedArray imported = import(exported.reference, 70000);
    return imported.path == ImportedArray::Path::kSameProcess ? compare(imported.array, 70000, 19)
                                                              : Outcome("it took another way");
  }

  Outcome empty_array() { return compare(import(exporter_.make(0, 1).reference, 0).array, 0, 1); }

  Outcome refuses_offset() {
    const std::string reference = exporter_.make(9000, 23).reference;
    const std::size_t size_at = reference.rfind(':');
    const std::size_t offset_at = reference.rfind(':', size_at - 1);
    const std::uint64_t opened = gpus_->counters().handles_opened;
    const std::string forged = reference.substr(0, offset_at + 1) + "18446744073709551615" + reference.substr(size_at);
    if (try_import(forged, 9000).has_value()) {
      return "it was taken";
    }
    return gpus_->counters().handles_opened == opened ? std::nullopt : Outcome("CUDA saw it");
  }

  Outcome works_on() { return import_copies(); }

  Outcome refuses_made_up() {
    const std::string reference = exporter_.make(9000, 29).reference;
    const std::size_t handle_at = reference.find(':') + 1;
    const std::string forged = reference.substr(0, handle_at) + std::string(84, 'a') +
                               "aQ==" + reference.substr(reference.find(':', handle_at));
    const Result<ImportedArray> imported = try_import(forged, 9000);
    if (imported.has_value()) {
      return "it was taken";
    }
    rows_.answer("what the driver says to a handle that was made up", imported.error().message());
    return works_on();
  }

  Outcome refuses_gone() {
    Exporter mortal(Exporter::Pool::kKept);
    const std::string reference = mortal.make(9000, 31).reference;
    mortal.kill();
    const Result<ImportedArray> imported = try_import(reference, 9000);
    if (imported.has_value()) {
      return "it was taken";
    }
    rows_.answer("what the driver says to the handle of a process that is gone", imported.error().message());
    return works_on();
  }

  std::shared_ptr<GpuSystem> gpus_;
  std::unique_ptr<GpuTransport> transport_ = make_cuda_ipc(gpus_);
  Rows& rows_;
  Exporter exporter_{Exporter::Pool::kKept};
};

int run() {
  Rows rows;
  const SystemClock clock;
  const std::shared_ptr<GpuSystem> gpus = GpuSystem::open({}, clock);
  if (const std::optional<TransportProblem>& problem = gpus->problem()) {
    rows.skipped("transport", problem->sentence);
    return 0;
  }
  TransportTests(gpus, rows).run();
  return rows.has_failed() ? 1 : 0;
}

}  // namespace
}  // namespace tessera::gpu_kit

int main(int count, char** arguments) {
  return tessera::gpu_kit::run_or_export({arguments, static_cast<std::size_t>(count)}, tessera::gpu_kit::run);
}
