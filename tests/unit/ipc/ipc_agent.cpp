#include "ipc_agent.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "pattern.h"
#include "support/child_process.h"
#include "support/stand_in.h"
#include "tessera/base/clock.h"
#include "tessera/cuda/device_memory.h"
#include "tessera/ipc/gpu_system.h"
#include "tessera/ipc/gpu_transport.h"
#include "tessera/ipc/transport_check.h"

namespace tessera {
namespace {

class IpcAgent final {
 public:
  IpcAgent()
      : system_(GpuSystem::open({.driver_library = testing::stand_in_path(), .pool_fraction = 0}, clock_)),
        transport_(make_cuda_ipc(system_)) {}

  [[nodiscard]] std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "export") {
      return export_pooled(words);
    }
    if (command == "export-part") {
      return export_part(words);
    }
    if (command == "export-managed") {
      return export_managed(words);
    }
    if (command == "free") {
      exports_.clear();
      return "freed";
    }
    if (command == "import" || command == "hold") {
      return import(words, command == "hold");
    }
    if (command == "check") {
      return check(words);
    }
    const TesseraStandInCounts counts = driver_.counts();
    return std::to_string(counts.live_allocations) + ' ' + std::to_string(counts.live_mappings);
  }

 private:
  static std::string text_of(const Error& error) {
    return "error " + std::to_string(error.native_code()) + ' ' + error.message();
  }

  [[nodiscard]] std::string export_array(const Result<Array>& array) {
    if (!array) {
      return text_of(array.error());
    }
    Result<ExportedArray> exported = transport_->export_array(*array);
    if (!exported) {
      return text_of(exported.error());
    }
    exports_.push_back(*std::move(exported));
    return exports_.back().reference;
  }

  [[nodiscard]] std::string export_pooled(std::istream& words) {
    std::size_t size = 0;
    unsigned seed = 0;
    words >> size >> seed;
    return export_array(system_->to_device(pattern_array(size, seed), gpu()->uuid()));
  }

  [[nodiscard]] std::string export_part(std::istream& words) {
    std::size_t size = 0;
    std::size_t skip = 0;
    unsigned seed = 0;
    words >> size >> skip >> seed;
    // Whole pages, so that it is exported in place.
    constexpr std::size_t kOnePage = DevicePool::kGranularityBytes;
    const std::size_t pages = (size + skip + kOnePage - 1) / kOnePage;
    auto memory = std::make_shared<DeviceMemory>(DeviceMemory::allocate(gpu(), pages * kOnePage).value());
    return export_foreign(memory->address() + skip, size, seed, memory);
  }

  [[nodiscard]] std::string export_managed(std::istream& words) {
    std::size_t size = 0;
    unsigned seed = 0;
    words >> size >> seed;
    const Result<ContextScope> scope = gpu()->enter();
    return export_foreign(driver_.allocate_managed(size), size, seed, nullptr);
  }

  [[nodiscard]] std::string export_foreign(std::uint64_t address, std::size_t size, unsigned seed,
                                           std::shared_ptr<void> owner) {
    if (const Status filled = copy_to_device(*gpu(), address, pattern(size, seed)); !filled) {
      return text_of(filled.error());
    }
    return export_array(system_->wrap(DType::kUInt8, Shape{static_cast<std::int64_t>(size)},
                                      {.address = address, .owner = std::move(owner), .strides_bytes = {}}));
  }

  [[nodiscard]] std::string import(std::istream& words, bool is_held) {
    std::size_t size = 0;
    std::string reference;
    words >> size >> reference;
    Result<ImportedArray> imported =
        transport_->import_array(reference, DType::kUInt8, Shape{static_cast<std::int64_t>(size)},
                                 is_held ? GpuTransport::Borrow::kYes : GpuTransport::Borrow::kNo);
    if (!imported) {
      return text_of(imported.error());
    }
    const Array host = imported->array.to_host().value();
    if (is_held) {
      held_.push_back(*std::move(imported));
    }
    for (unsigned seed = 0; seed != 100; ++seed) {
      if (std::ranges::equal(host.bytes(), pattern(size, seed))) {
        return "ok " + std::to_string(seed);
      }
    }
    return "other bytes";
  }

  [[nodiscard]] std::string check(std::istream& words) {
    std::string reference;
    std::string expected;
    words >> reference >> expected;
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i + 1 < expected.size(); i += 2) {
      bytes.push_back(static_cast<std::byte>(std::stoi(expected.substr(i, 2), nullptr, 16)));
    }
    const Result<Array> reply = answer_check(*system_, *transport_, reference, bytes);
    return export_array(reply);
  }

  [[nodiscard]] const std::shared_ptr<const Gpu>& gpu() const { return system_->gpus().front(); }

  SystemClock clock_;
  testing::StandIn driver_;
  std::shared_ptr<GpuSystem> system_;
  std::unique_ptr<GpuTransport> transport_;
  std::vector<ExportedArray> exports_;
  std::vector<ImportedArray> held_;
};

}  // namespace

int run_ipc_agent() {
  IpcAgent agent;
  testing::LineChannel channel(testing::ChildProcess::kChildDescriptor);
  std::string line;
  while (channel.read(line)) {
    channel.write(agent.answer(line));
  }
  return 0;
}

}  // namespace tessera
