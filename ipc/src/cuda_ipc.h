// Memory handles of CUDA as a transport.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "system.h"
#include "tessera/ipc/descriptor.h"
#include "tessera/ipc/gpu_transport.h"

namespace tessera {

class CudaIpc final : public GpuTransport {
 public:
  explicit CudaIpc(std::shared_ptr<System> system) : system_(std::move(system)) {}

  [[nodiscard]] std::string_view name() const override { return "cuda_ipc"; }
  [[nodiscard]] std::optional<TransportProblem> problem() const override;
  [[nodiscard]] Result<ExportedArray> export_array(const Array& array) override;
  [[nodiscard]] Result<ImportedArray> import_array(std::string_view reference, DType dtype, Shape shape,
                                                   Borrow borrow) override;
  [[nodiscard]] TransportProblem explain(const Error& error) const override;

 private:
  struct FoundBlock {
    std::shared_ptr<const LocalBlock> block;
    ImportedArray::Path path;
  };
  /// The bytes that a reference names, of which there are some.
  [[nodiscard]] Result<FoundBlock> find_block(const std::shared_ptr<const Gpu>& gpu,
                                              const CudaIpcDescriptor& descriptor, std::size_t size_bytes,
                                              Borrow borrow);

  std::shared_ptr<System> system_;
};

}  // namespace tessera
