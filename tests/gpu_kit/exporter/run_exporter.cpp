#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "exporter/byte_arrays.h"
#include "exporter/exporter.h"
#include "tessera/base/clock.h"
#include "tessera/cuda/device_memory.h"
#include "tessera/ipc/gpu_transport.h"

namespace tessera::gpu_kit {
namespace {

class Orders {
 public:
  Orders(std::shared_ptr<GpuSystem> gpus) : gpus_(std::move(gpus)), transport_(make_cuda_ipc(gpus_)) {}

  std::string obey(std::istringstream& words) {
    std::string order;
    words >> order;
    if (order == "make") {
      return make(words);
    }
    if (order == "read") {
      return read(words);
    }
    export_.reset();
    array_.reset();
    return "ok";
  }

 private:
  std::string make(std::istringstream& words) {
    std::size_t size_bytes = 0;
    std::uint64_t seed = 0;
    std::size_t offset_bytes = 0;
    words >> size_bytes >> seed >> offset_bytes;
    export_.reset();
    array_.reset();
    array_ = offset_bytes == 0 ? bytes_on_gpu(*gpus_, size_bytes, seed) : inside(size_bytes, seed, offset_bytes);
    const auto begin = std::chrono::steady_clock::now();
    export_ = must(transport_->export_array(*array_));
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    return std::to_string(time.count()) + " " + export_->reference;
  }

  // An array that begins within an allocation of whole pages, as those of other libraries do: it is lent in place.
  Array inside(std::size_t size_bytes, std::uint64_t seed, std::size_t offset_bytes) {
    const Array bytes = bytes_on_gpu(*gpus_, size_bytes, seed);
    const std::shared_ptr<const Gpu>& gpu = gpus_->gpus().front();
    constexpr std::size_t kPage = DevicePool::kGranularityBytes;
    const std::size_t pages = (offset_bytes + size_bytes + kPage - 1) / kPage;
    auto memory = std::make_shared<DeviceMemory>(must(DeviceMemory::allocate(gpu, pages * kPage)));
    ForeignMemory foreign;
    foreign.address = memory->address() + offset_bytes;
    foreign.owner = memory;
    must(copy_on_device(*gpu, foreign.address, bytes.device()->address(), size_bytes));
    return must(gpus_->wrap(DType::kUInt8, {static_cast<std::int64_t>(size_bytes)}, std::move(foreign)));
  }

  std::string read(std::istringstream& words) {
    std::size_t size_bytes = 0;
    std::uint64_t seed = 0;
    std::string reference;
    words >> size_bytes >> seed >> reference;
    const ImportedArray imported = must(transport_->import_array(
        reference, DType::kUInt8, {static_cast<std::int64_t>(size_bytes)}, GpuTransport::Borrow::kNo));
    return compare(imported.array, size_bytes, seed).value_or("ok");
  }

  std::shared_ptr<GpuSystem> gpus_;
  std::unique_ptr<GpuTransport> transport_;
  std::optional<Array> array_;
  std::optional<ExportedArray> export_;
};

int run_exporter(bool keeps_memory) {
  const SystemClock clock;
  GpuSystem::Options options;
  options.pool_fraction = keeps_memory ? options.pool_fraction : 0.0;
  Orders orders(GpuSystem::open(options, clock));
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    try {
      std::cout << orders.obey(words) << '\n' << std::flush;
    } catch (const std::exception& error) {
      std::cout << "error " << error.what() << '\n' << std::flush;
    }
  }
  return 0;
}

}  // namespace

int run_or_export(std::span<char* const> arguments, int (*run)()) {
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): cannot fail
  if (arguments.size() == 3 && std::string_view(arguments[1]) == "--exporter") {
    return run_exporter(std::string_view(arguments[2]) == "kept");
  }
  return run();
}

}  // namespace tessera::gpu_kit
