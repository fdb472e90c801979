// LZ4 frames: decompressed alone, behind base64 and out of a file, all with the same result; and made again.
#include <algorithm>
#include <string>
#include <vector>

#include "arrays.h"
#include "folder.h"
#include "input.h"
#include "targets.h"
#include "tessera/array/base64.h"
#include "tessera/array/lz4_frame.h"
#include "tessera/base/confined_folder.h"

namespace tessera::fuzzing {
namespace {

std::string base64_of(std::span<const std::byte> bytes) {
  std::string text(base64_length(bytes.size()), '\0');
  base64_encode(bytes, text.data());
  return text;
}

void check_round_trip(std::span<const std::byte> bytes) {
  const Buffer frame = lz4_compress(bytes);
  std::vector<std::byte> again(bytes.size());
  require(lz4_decompress(frame.bytes(), again).has_value(), "our own frames are read");
  require(std::ranges::equal(again, bytes), "bytes survive compression");
}

}  // namespace

void fuzz_array_lz4(std::string_view bytes) {
  static const Folder kFolder;
  static const ConfinedFolder kFiles = ConfinedFolder::open(kFolder.path()).value();

  Input input(bytes);
  const std::size_t high = input.byte();
  const std::size_t size = high << 8U | input.byte();
  const std::span<const std::byte> frame = std::as_bytes(std::span(input.rest()));
  check_round_trip(frame);
  static_cast<void>(lz4_content_size(frame));

  std::vector<std::byte> alone(size);
  const bool is_good = lz4_decompress(frame, alone).has_value();
  const Shape shape{static_cast<std::int64_t>(size)};
  const ArrayReader reader(&kFiles, {kMaxArrayBytes});
  kFolder.write("frame", input.rest());
  const std::string reference = json_text("frame:0:" + std::to_string(frame.size()));
  for (const auto& [buffer, encoding] :
       {std::pair{json_text(base64_of(frame)), "base64"}, std::pair{reference, "binref"}}) {
    const auto array = read_array(reader, array_object(DType::kUInt8, shape, buffer, encoding, true));
    require(array.has_value() == is_good, "a frame is good or bad wherever it stands");
    require(!is_good || std::ranges::equal(array->bytes(), alone), "a frame gives the same bytes wherever it stands");
  }
}

}  // namespace tessera::fuzzing
