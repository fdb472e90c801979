#include "client_gpu.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "background.h"
#include "tessera/base/ascii.h"
#include "tessera/base/clock.h"
#include "tessera/sdk/client_options.h"

namespace tessera {
namespace {

constexpr std::chrono::seconds kTrimTime{5};

// Gives back what has been idle on the GPUs of the process.
class GpuTrimming final : public Chore {
 public:
  explicit GpuTrimming(std::shared_ptr<GpuSystem> gpus) : gpus_(std::move(gpus)) {}

  Instant run(Instant now) noexcept override {
    gpus_->trim();
    return now + kTrimTime;
  }
  void finish() noexcept override {}

 private:
  std::shared_ptr<GpuSystem> gpus_;
};

bool forbids_host_copies() {
  // The environment is that of the start for as long as nobody changes it, which is the program's business.
  const char* const value = std::getenv("TESSERACT_FORBID_DEVICE_HOST_COPY");  // NOLINT(concurrency-mt-unsafe)
  const std::string text = lower_case(value == nullptr ? "" : value);
  return text == "1" || text == "true";
}

// A borrowed block, and behind it what says that it is needed. The block goes first.
struct Loaned {
  std::shared_ptr<void> loan;
  std::shared_ptr<const DeviceBlock> block;
};

Array with_loan(const Array& array, const std::shared_ptr<void>& loan) {
  const auto loaned = std::make_shared<Loaned>(Loaned{loan, array.device()});
  return Array::on_device(array.dtype(), array.shape(),
                          std::shared_ptr<const DeviceBlock>(loaned, loaned->block.get()));
}

}  // namespace

std::shared_ptr<GpuSystem> shared_gpus() {
  // Neither is ever destroyed: the driver may be gone before.
  struct Shared {
    SystemClock clock;
    std::shared_ptr<GpuSystem> gpus = GpuSystem::open({}, clock);
    std::shared_ptr<Chore> trimming = std::make_shared<GpuTrimming>(gpus);
  };
  static const Shared* const kShared = [] {
    const auto* const shared = new Shared;  // NOLINT(cppcoreguidelines-owning-memory)
    if (!shared->gpus->gpus().empty()) {
      static_cast<void>(run_in_background(shared->trimming, std::chrono::steady_clock::now() + kTrimTime));
    }
    return shared;
  }();
  return kShared->gpus;
}

ClientGpu::ClientGpu(std::shared_ptr<GpuSystem> gpus)
    : system(gpus ? std::move(gpus) : shared_gpus()), transport(make_cuda_ipc(system)) {}

Result<std::optional<std::string>> RequestExports::write(const Array& array) {
  if (!is_by_reference_) {
    return std::optional<std::string>();
  }
  Result<ExportedArray> exported = gpu_().transport->export_array(array);
  if (!exported) {
    has_failed_ = true;
    return exported.error().native_code() == 0
               ? exported.error()
               : Error(exported.error().code(), text_of(gpu_().transport->explain(exported.error())));
  }
  if (exported->owner) {
    owners_.push_back(std::move(exported->owner));
  }
  return std::optional<std::string>(std::move(exported->reference));
}

Result<Array> RequestExports::to_host(const Array& array) {
  if (forbids_host_copies()) {
    return Error(ErrorCode::kInvalidArgument,
                 "an array in GPU memory would be copied to the host, which TESSERACT_FORBID_DEVICE_HOST_COPY forbids");
  }
  Result<Array> host = array.to_host();
  has_failed_ = !host;
  return host;
}

Result<Array> ResponseImports::read(std::string_view reference, DType dtype, Shape shape) const {
  GpuTransport& transport = *gpu_().transport;
  const bool borrows = loan_ != nullptr;
  Result<ImportedArray> imported = transport.import_array(
      reference, dtype, std::move(shape), borrows ? GpuTransport::Borrow::kYes : GpuTransport::Borrow::kNo);
  if (!imported) {
    return Error(imported.error().code(), text_of(transport.explain(imported.error())));
  }
  if (borrows && imported->path == ImportedArray::Path::kBorrowed) {
    return with_loan(imported->array, loan_);
  }
  return std::move(imported->array);
}

}  // namespace tessera
