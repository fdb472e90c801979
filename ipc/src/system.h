// The one implementation of GpuSystem, with what the transport needs of it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device_blocks.h"
#include "export_table.h"
#include "mapping_cache.h"
#include "tessera/ipc/gpu_system.h"
#include "transport_counts.h"

namespace tessera {

/// The size of an array. Errors: kInvalidArgument if the sizes are no shape.
[[nodiscard]] Result<std::size_t> bytes_of(const Shape& shape, DType dtype);

class System final : public GpuSystem {
 public:
  System(const Options& options, const Clock& clock);

  [[nodiscard]] const std::optional<TransportProblem>& problem() const override { return problem_; }
  [[nodiscard]] int driver_version() const override { return driver_ ? driver_->version() : 0; }
  [[nodiscard]] const std::vector<std::shared_ptr<const Gpu>>& gpus() const override { return gpus_; }
  [[nodiscard]] std::shared_ptr<const Gpu> find(const Uuid& gpu) const override;
  [[nodiscard]] Result<Array> allocate(const Uuid& gpu, DType dtype, Shape shape) override;
  [[nodiscard]] Result<Array> wrap(DType dtype, Shape shape, ForeignMemory memory) override;
  [[nodiscard]] Result<Array> to_device(const Array& array, const Uuid& gpu) override;
  [[nodiscard]] Result<Array> to_host(const Array& array) override;
  void trim() override;
  [[nodiscard]] TransportCounters counters() const override;
  [[nodiscard]] std::uint64_t exhaustions() const override { return counts_->exhaustions; }
  [[nodiscard]] std::vector<DevicePool::Stats> pool_stats() const override;

  /// The GPU, or why there is none: the driver's problem, or that this process does not see it.
  [[nodiscard]] Result<std::shared_ptr<const Gpu>> require(const Uuid& gpu) const;
  /// A block of the pool; one without memory for no bytes.
  [[nodiscard]] Result<std::shared_ptr<const LocalBlock>> allocate_block(const std::shared_ptr<const Gpu>& gpu,
                                                                         std::size_t size_bytes);
  /// The block of an array on a GPU of this system. Errors: kInvalidArgument for others.
  [[nodiscard]] Result<std::shared_ptr<const LocalBlock>> block_of(const Array& array) const;
  /// A copy of a block's first bytes, in the pool; the stream that makes them is waited for.
  [[nodiscard]] Result<std::shared_ptr<const LocalBlock>> copy_block(const LocalBlock& block, std::size_t size_bytes,
                                                                     const std::shared_ptr<const Gpu>& gpu);

  [[nodiscard]] TransportCounts& counts() { return *counts_; }
  [[nodiscard]] MappingCache& mappings() { return *mappings_; }
  [[nodiscard]] ExportTable& exports() { return *exports_; }

 private:
  void find_gpus(const Options& options, const Clock& clock);
  [[nodiscard]] Result<std::shared_ptr<const LocalBlock>> pack(const std::shared_ptr<const Gpu>& gpu,
                                                               std::size_t size_bytes, std::size_t item_size_bytes,
                                                               const Shape& shape, const ForeignMemory& memory);

  std::shared_ptr<Closer> closer_;
  std::shared_ptr<const Driver> driver_;
  std::optional<TransportProblem> problem_;
  std::vector<std::shared_ptr<const Gpu>> gpus_;
  std::vector<std::shared_ptr<DevicePool>> pools_;  // one for each
  std::shared_ptr<TransportCounts> counts_;
  std::shared_ptr<MappingCache> mappings_;
  std::shared_ptr<ExportTable> exports_;
};

}  // namespace tessera
