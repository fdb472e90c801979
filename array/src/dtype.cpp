#include "tessera/array/dtype.h"

namespace tessera {
namespace {

struct DTypeFacts {
  std::string_view name;
  std::uint8_t item_size_bytes;
  DTypeKind kind;
};

// In the order of DType.
constexpr std::array<DTypeFacts, kDTypeCount> kFacts{{
    {"float16", 2, DTypeKind::kFloat},
    {"float32", 4, DTypeKind::kFloat},
    {"float64", 8, DTypeKind::kFloat},
    {"int8", 1, DTypeKind::kSigned},
    {"int16", 2, DTypeKind::kSigned},
    {"int32", 4, DTypeKind::kSigned},
    {"int64", 8, DTypeKind::kSigned},
    {"bool", 1, DTypeKind::kBool},
    {"uint8", 1, DTypeKind::kUnsigned},
    {"uint16", 2, DTypeKind::kUnsigned},
    {"uint32", 4, DTypeKind::kUnsigned},
    {"uint64", 8, DTypeKind::kUnsigned},
    {"complex64", 8, DTypeKind::kComplex},
    {"complex128", 16, DTypeKind::kComplex},
}};
static_assert(kFacts.back().item_size_bytes != 0, "an element type has no row in the table");

const DTypeFacts& facts_of(DType dtype) {
  return kFacts[static_cast<std::size_t>(dtype)];
}

}  // namespace

const std::array<DType, kDTypeCount>& all_dtypes() {
  static constexpr auto kAll = [] {
    std::array<DType, kDTypeCount> all{};
    for (std::size_t i = 0; i < kDTypeCount; ++i) {
      all[i] = static_cast<DType>(i);
    }
    return all;
  }();
  return kAll;
}

std::string_view name_of(DType dtype) {
  return facts_of(dtype).name;
}

std::optional<DType> find_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kFacts.size(); ++i) {
    if (kFacts[i].name == name) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

std::size_t item_size_bytes(DType dtype) {
  return facts_of(dtype).item_size_bytes;
}

DTypeKind kind_of(DType dtype) {
  return facts_of(dtype).kind;
}

bool is_castable(DType from, DType to) {
  const DTypeKind source = kind_of(from);
  switch (kind_of(to)) {
    case DTypeKind::kComplex:
      return true;
    case DTypeKind::kFloat:
      return source != DTypeKind::kComplex;
    case DTypeKind::kSigned:
    case DTypeKind::kUnsigned:
      return source == DTypeKind::kSigned || source == DTypeKind::kUnsigned || source == DTypeKind::kBool;
    case DTypeKind::kBool:
      break;
  }
  return source == DTypeKind::kBool;
}

}  // namespace tessera
