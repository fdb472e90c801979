// One array in all encodings decodes to one thing: by the reader of requests, and by the client's.
#include <algorithm>
#include <string>

#include "arrays.h"
#include "folder.h"
#include "input.h"
#include "response_value.h"
#include "targets.h"
#include "tessera/array/binref.h"
#include "tessera/array/value_writer.h"
#include "tessera/base/confined_folder.h"

namespace tessera::fuzzing {
namespace {

// An array of all the bytes that are left, as far as they fill whole rows.
Array make_array(Input& input) {
  const DType dtype = pick_dtype(input);
  const std::size_t form = input.pick(6);
  const std::string_view bytes = input.rest();
  const auto count = static_cast<std::int64_t>(bytes.size() / item_size_bytes(dtype));
  const Shape shapes[] = {{count}, {1, count}, {count, 1, 1}, {2, count / 2}, {}, {count, 0, 2}};
  Array array = Array::zeros(dtype, shapes[form]);
  const std::span<std::byte> into = array.mutable_bytes();
  std::ranges::copy(std::as_bytes(std::span(bytes)).first(std::min(into.size(), bytes.size())), into.begin());
  if (dtype == DType::kBool) {
    std::ranges::transform(into, into.begin(), [](std::byte byte) { return byte & std::byte{1}; });
  }
  return array;
}

void check_encoding(const Array& array, const Encoding& encoding, const ConfinedFolder& files) {
  BinrefWriter writer(files, "", [] { return Status(); });
  Body body;
  require(write_value(array, encoding, {.files = &writer}, body).has_value(), "an array can be written");
  const std::string text = body.to_string();
  const bool is_json = encoding.format == OutputFormat::kJson;
  const auto read = read_array(ArrayReader(&files, {kMaxArrayBytes}), text);
  require(read.has_value(), "what is written can be read");
  require(is_json ? is_kept_by_json(array, *read) : are_same(array, *read), "an array survives its encoding");
  const Value value = read_response_value(text, {.files = &files});
  require(value.is_array() && are_same(value.array(), *read), "the client reads what the daemon reads");
}

}  // namespace

void fuzz_array_encodings(std::string_view bytes) {
  static const Folder kFolder;
  static const ConfinedFolder kFiles = ConfinedFolder::open(kFolder.path()).value();

  Input input(bytes);
  const Array array = make_array(input);
  check_encoding(array, {}, kFiles);
  for (const OutputFormat format : {OutputFormat::kBase64, OutputFormat::kBinref}) {
    for (const Compression compression : {Compression::kNone, Compression::kLz4}) {
      check_encoding(array, {.format = format, .compression = compression}, kFiles);
    }
  }
}

}  // namespace tessera::fuzzing
