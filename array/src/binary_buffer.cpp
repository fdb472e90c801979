#include "binary_buffer.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "decode_fault.h"
#include "tessera/array/base64.h"
#include "tessera/array/binref.h"
#include "tessera/array/lz4_frame.h"
#include "tessera/base/ascii.h"
#include "tessera/base/file.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

constexpr std::string_view kBase64 = "base64";
constexpr std::string_view kBinref = "binref";

// An lz4 block cannot grow more than this, so a short frame cannot claim a large array.
constexpr std::uint64_t kMaxLz4Ratio = 255;

using Decoded = std::variant<Array, ArrayFault>;

// The bytes of the array, or why there cannot be so many.
std::variant<std::size_t, ArrayFault> needed_bytes(const BinaryLayout& layout, std::string_view encoding) {
  const std::optional<std::uint64_t> bytes = byte_count(layout.shape, layout.dtype);
  if (!bytes || *bytes > layout.limit_bytes) {
    return over_limit(encoding, layout.shape, layout.dtype, layout.limit_bytes);
  }
  return static_cast<std::size_t>(*bytes);
}

// Why so many bytes are not the array's.
std::string wrong_size(std::uint64_t size_bytes, const BinaryLayout& layout) {
  const std::uint64_t item_size = item_size_bytes(layout.dtype);
  if (size_bytes % item_size != 0) {
    return "buffer size must be a multiple of element size: " + std::to_string(size_bytes) + " bytes, elements of " +
           std::to_string(item_size);
  }
  return cannot_reshape(size_bytes / item_size, layout.shape);
}

Decoded decompress(std::span<const std::byte> frame, const BinaryLayout& layout, std::string_view encoding) {
  const std::variant<std::size_t, ArrayFault> needed = needed_bytes(layout, encoding);
  if (const auto* const fault = std::get_if<ArrayFault>(&needed)) {
    return *fault;
  }
  const std::size_t size = std::get<std::size_t>(needed);
  if (const std::optional<std::uint64_t> content = lz4_content_size(frame); content && *content != size) {
    return decode_fault(encoding, wrong_size(*content, layout));
  }
  if (size / kMaxLz4Ratio > frame.size()) {
    return decode_fault(encoding, "an lz4 frame of " + std::to_string(frame.size()) + " bytes cannot hold " +
                                      std::to_string(size) + " bytes");
  }
  Buffer buffer = Buffer::allocate(size);
  if (const Status status = lz4_decompress(frame, buffer.bytes()); !status) {
    return decode_fault(encoding, status.error().message());
  }
  return adopt_bytes(layout.dtype, layout.shape, std::move(buffer));
}

// Whether all but the padding are digits of base64.
bool has_digits_only(std::string_view text) {
  for (int i = 0; i < 2 && text.ends_with('='); ++i) {
    text.remove_suffix(1);
  }
  return std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '/'; });
}

// What is wrong with a text that is not base64; of what is no digit in the words of upstream.
std::string why_not_base64(std::string_view text) {
  if (!has_digits_only(text)) {
    return "Non-base64 digit found";
  }
  return text.size() % 4 != 0 ? "invalid base64: length or padding is wrong"
                              : "invalid base64: bits are left over in its last digit";
}

// A file opened for reading, or why not.
std::variant<UniqueFd, std::string> open_binref(const std::string& path, const ConfinedFolder* files) {
  if (path.find("://") != std::string::npos) {
    return "URLs are not read: " + brief(path);
  }
  if (files == nullptr) {
    return std::string("there is no input path to read files from");
  }
  Result<UniqueFd> file = files->open_file(path);
  if (!file) {
    return file.error().message();
  }
  return *std::move(file);
}

// Reads `size` bytes, or says why that is not possible. Allocates nothing if the file is too short.
std::variant<Buffer, std::string> read_bytes(const UniqueFd& file, const BinrefReference& reference, std::size_t size) {
  const std::uint64_t offset = reference.offset_bytes.value_or(0);
  struct stat facts{};
  if (::fstat(file.value(), &facts) != 0) {
    return system_error("cannot read " + brief(reference.path), errno).message();
  }
  const auto file_size = static_cast<std::uint64_t>(facts.st_size);
  std::uint64_t there = file_size - std::min(offset, file_size);
  if (size <= there) {
    Buffer buffer = Buffer::allocate(size);
    const Result<std::size_t> count = read_at(file.value(), offset, buffer.bytes());
    if (!count) {
      return count.error().message();
    }
    if (*count == size) {
      return buffer;
    }
    there = *count;
  }
  return "Binref buffer " + brief(reference.path) + " is too small: expected " + std::to_string(size) +
         " bytes at offset " + std::to_string(offset) + ", but only " + std::to_string(there) + " could be read.";
}

}  // namespace

Array adopt_bytes(DType dtype, const Shape& shape, Buffer buffer) {
  if (dtype == DType::kBool) {
    for (std::byte& flag : buffer.bytes()) {
      flag = flag == std::byte{0} ? std::byte{0} : std::byte{1};
    }
  }
  return Array::wrap(dtype, shape, std::move(buffer));
}

Decoded read_base64_buffer(std::string_view text, const BinaryLayout& layout) {
  const std::optional<std::size_t> size = base64_decoded_size(text);
  if (!size) {
    return decode_fault(kBase64, why_not_base64(text));
  }
  const std::optional<std::uint64_t> needed = byte_count(layout.shape, layout.dtype);
  if (!layout.is_compressed && needed != *size) {
    return decode_fault(kBase64, has_digits_only(text) ? wrong_size(*size, layout) : why_not_base64(text));
  }
  if (!layout.is_compressed && *size > layout.limit_bytes) {
    return over_limit(kBase64, layout.shape, layout.dtype, layout.limit_bytes);
  }
  Buffer buffer = Buffer::allocate(*size);
  if (!base64_decode(text, buffer.bytes())) {
    return decode_fault(kBase64, why_not_base64(text));
  }
  if (layout.is_compressed) {
    return decompress(buffer.bytes(), layout, kBase64);
  }
  return adopt_bytes(layout.dtype, layout.shape, std::move(buffer));
}

Decoded read_binref_buffer(std::string_view text, const BinaryLayout& layout, const ConfinedFolder* files) {
  const std::optional<BinrefReference> reference = parse_binref(text);
  if (!reference) {
    return decode_fault(kBinref, "an offset or size does not fit 64 bits");
  }
  if (layout.is_compressed && !reference->compressed_size_bytes) {
    return decode_fault(kBinref,
                        "compressed_size is required in buffer spec when compression is set (expected format: "
                        "'<path>:<offset>:<compressed_size>')");
  }
  const std::variant<UniqueFd, std::string> file = open_binref(reference->path, files);
  if (const auto* const reason = std::get_if<std::string>(&file)) {
    return decode_fault(kBinref, *reason);
  }
  const std::variant<std::size_t, ArrayFault> needed = needed_bytes(layout, kBinref);
  if (const auto* const fault = std::get_if<ArrayFault>(&needed)) {
    return *fault;
  }
  const std::uint64_t size =
      layout.is_compressed ? *reference->compressed_size_bytes : std::uint64_t{std::get<std::size_t>(needed)};
  if (size > layout.limit_bytes) {
    ArrayFault fault =
        decode_fault(kBinref, "a frame of " + std::to_string(size) + " bytes is larger than the limit of " +
                                  std::to_string(layout.limit_bytes) + " bytes");
    fault.is_over_limit = true;
    return fault;
  }
  std::variant<Buffer, std::string> bytes =
      read_bytes(std::get<UniqueFd>(file), *reference, static_cast<std::size_t>(size));
  if (const auto* const reason = std::get_if<std::string>(&bytes)) {
    return decode_fault(kBinref, *reason);
  }
  Buffer buffer = std::get<Buffer>(std::move(bytes));
  if (layout.is_compressed) {
    return decompress(buffer.bytes(), layout, kBinref);
  }
  return adopt_bytes(layout.dtype, layout.shape, std::move(buffer));
}

}  // namespace tessera
