// Vectors on a GPU, computed with by the kernels of vector_kernels.cu.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "tessera/array/array.h"
#include "tessera/ipc/gpu_system.h"

/// The kernels as the driver of one GPU has them, with the streams that calls on it use. Safe to use from any thread.
class LoadedKernels;

/// The kernels on each GPU, loaded when the first call needs them there. Safe to use from any thread.
class KernelStore {
 public:
  /// Throws std::runtime_error if the driver does not take them.
  std::shared_ptr<LoadedKernels> on(const std::shared_ptr<const tessera::Gpu>& gpu);

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<LoadedKernels>> loaded_;
};

/// The work of one call: what is asked for is done in order, on a stream of its own; finish() waits for it. Vectors are
/// float64 arrays on the GPU that take() and allocate() gave. One thread. Methods throw std::runtime_error in the words
/// of the driver.
class VectorWork {
 public:
  VectorWork(std::shared_ptr<tessera::GpuSystem> gpus, std::shared_ptr<LoadedKernels> kernels);
  VectorWork(const VectorWork&) = delete;
  VectorWork& operator=(const VectorWork&) = delete;
  /// Waits, too: nobody else gets memory that a kernel still writes to.
  ~VectorWork();

  /// The array on this GPU: itself, or a copy of one that is on the host or on another GPU.
  tessera::Array take(const tessera::Array& array);
  tessera::Array allocate(tessera::Shape shape);

  /// result = x * a + y * b
  void combine(const tessera::Array& result, double x, const tessera::Array& a, double y, const tessera::Array& b);
  /// result = x * a
  void scale(const tessera::Array& result, double x, const tessera::Array& a);
  /// result, of one element, = a · b
  void dot(const tessera::Array& result, const tessera::Array& a, const tessera::Array& b);
  /// Divides by the length, whose square is an array of one element.
  void normalize(const tessera::Array& values, const tessera::Array& length_squared);
  /// Takes a change of `vector` to the change of that vector brought to length one.
  void follow_normalization(const tessera::Array& change, const tessera::Array& vector,
                            const tessera::Array& length_squared);
  /// matrix = factor on the diagonal, else 0
  void diagonal(const tessera::Array& matrix, double factor);
  /// The same, each row followed through the normalization of `vector`.
  void normalized_diagonal(const tessera::Array& matrix, double factor, const tessera::Array& vector,
                           const tessera::Array& length_squared);

  /// Waits until all is done: then others may read the arrays.
  void finish();

 private:
  enum class Kernel : unsigned;
  template <class... Arguments>
  void launch(Kernel kernel, unsigned int blocks, Arguments... arguments);

  friend class LoadedKernels;

  std::shared_ptr<tessera::GpuSystem> gpus_;
  std::shared_ptr<LoadedKernels> kernels_;
  tessera::ContextScope scope_;
  void* stream_;
  std::vector<tessera::Array> used_;  // kept until the stream is done with them
};
