// What runs on the GPU: sums of vectors, and derivatives of a vector that is brought to length one.
// Each thread takes every n-th element, so that any number of threads does for any size.

namespace {

constexpr int kThreads = 256;  // of a block of the dot products, a power of two

__device__ long long first_index() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ long long index_step() {
  return static_cast<long long>(gridDim.x) * blockDim.x;
}

// Adds up one number of each thread of a block; the first thread gets the sum. Always in the same order.
__device__ double sum_of_block(double part) {
  __shared__ double parts[kThreads];
  parts[threadIdx.x] = part;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    __syncthreads();
  }
  return parts[0];
}

}  // namespace

extern "C" {

// result = x * a + y * b
__global__ void combine(double* result, double x, const double* a, double y, const double* b, long long size) {
  for (long long i = first_index(); i < size; i += index_step()) {
    result[i] = x * a[i] + y * b[i];
  }
}

// result = x * a
__global__ void scale(double* result, double x, const double* a, long long size) {
  for (long long i = first_index(); i < size; i += index_step()) {
    result[i] = x * a[i];
  }
}

// A part of the dot product of a and b for each block; add_parts makes one number of them.
__global__ void dot_parts(double* parts, const double* a, const double* b, long long size) {
  double part = 0.0;
  for (long long i = first_index(); i < size; i += index_step()) {
    part += a[i] * b[i];
  }
  const double sum = sum_of_block(part);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
  }
}

__global__ void add_parts(double* sum, const double* parts, long long count) {
  double part = 0.0;
  for (long long i = threadIdx.x; i < count; i += blockDim.x) {
    part += parts[i];
  }
  const double total = sum_of_block(part);
  if (threadIdx.x == 0) {
    *sum = total;
  }
}

// Divides by the length, whose square is given.
__global__ void normalize(double* values, const double* length_squared, long long size) {
  const double length = sqrt(*length_squared);
  for (long long i = first_index(); i < size; i += index_step()) {
    values[i] /= length;
  }
}

// Takes the change of a vector to the change of that vector brought to length one: see vectoradd.cpp.
__global__ void follow_normalization(double* change, const double* vector, const double* length_squared,
                                     const double* dot, long long size) {
  const double along = *dot / *length_squared;
  const double length = sqrt(*length_squared);
  for (long long i = first_index(); i < size; i += index_step()) {
    change[i] = (change[i] - along * vector[i]) / length;
  }
}

// matrix = factor on the diagonal, else 0
__global__ void diagonal(double* matrix, double factor, long long width) {
  for (long long i = first_index(); i < width * width; i += index_step()) {
    matrix[i] = i / width == i % width ? factor : 0.0;
  }
}

// The same, each row followed through the normalization of `vector`.
__global__ void normalized_diagonal(double* matrix, double factor, const double* vector, const double* length_squared,
                                    long long width) {
  const double length = sqrt(*length_squared);
  for (long long i = first_index(); i < width * width; i += index_step()) {
    const long long row = i / width;
    const long long column = i % width;
    const double along = factor * vector[row] / *length_squared;
    matrix[i] = ((row == column ? factor : 0.0) - along * vector[column]) / length;
  }
}

}  // extern "C"
