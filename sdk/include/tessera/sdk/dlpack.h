// The structs of DLPack (https://dmlc.github.io/dlpack) that tessera exchanges, for programs that have no <dlpack.h> of
// their own. Who has one includes it first: then this header declares nothing. C99 and C++.
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stdint.h>  // NOLINT(modernize-deprecated-headers)

#ifdef __cplusplus
extern "C" {
#endif
// The names are DLPack's.
// NOLINTBEGIN(readability-identifier-naming, modernize-use-using)

/// Where memory is.
#ifdef __cplusplus
typedef enum : int32_t {  // numbers that have no name here may come
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,      ///< on a GPU; `data` is a CUdeviceptr
  kDLCUDAHost = 3,  ///< of the host, pinned
} DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;  ///< of kDLCUDA the ordinal of the GPU in this process, else 0
} DLDevice;

/// Kinds of element types.
typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U,
  kDLBool = 6U,
} DLDataTypeCode;

typedef struct {
  uint8_t code;    ///< a DLDataTypeCode
  uint8_t bits;    ///< of one lane, both parts of a complex number together
  uint16_t lanes;  ///< 1, but for vector types
} DLDataType;

/// An array whose memory is somebody else's.
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;        ///< `ndim` sizes
  int64_t* strides;      ///< as many, in elements; NULL: C order
  uint64_t byte_offset;  ///< from `data` to the first element
} DLTensor;

/// An array with its owner.
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;                              ///< the maker's own
  void (*deleter)(struct DLManagedTensor* self);  ///< frees all of it; may be NULL
} DLManagedTensor;

// NOLINTEND(readability-identifier-naming, modernize-use-using)
#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DLPACK_DLPACK_H_
