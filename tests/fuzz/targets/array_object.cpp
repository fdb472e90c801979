// Any JSON text read as an array field: array objects of all encodings, bare numbers and lists.
#include <string>

#include "arrays.h"
#include "folder.h"
#include "input.h"
#include "targets.h"
#include "tessera/base/confined_folder.h"

namespace tessera::fuzzing {

void fuzz_array_object(std::string_view bytes) {
  static const Folder kFolder;
  static const ConfinedFolder kFiles = [] {
    kFolder.write("a.bin", std::string(256, '\x3f'));
    kFolder.write("sub/b.bin", "12345678");
    return ConfinedFolder::open(kFolder.path()).value();
  }();

  Input input(bytes);
  const ArraySpec spec = pick_spec(input);
  const std::string_view text = input.rest();
  const ArrayReader reader(&kFiles, {kMaxArrayBytes});
  if (const std::optional<Array> array = read_array(reader, text, spec)) {
    require(array->has_data() && array->size_bytes() <= kMaxArrayBytes, "arrays stay within the limit");
    require(!spec.dtype.has_value() || array->dtype() == *spec.dtype, "a field gets its dtype");
    const auto again = read_array(reader, written(*array, {.format = OutputFormat::kBase64}), spec);
    require(again.has_value() && are_same(*array, *again), "an array survives base64");
  }
  JsonScanner scanner(text);
  const auto exact = reader.read_exactly(scanner, spec);
  if (const auto* const array = std::get_if<Array>(&exact); array != nullptr && !scanner.has_fault()) {
    require(!spec.dtype.has_value() || array->dtype() == *spec.dtype, "nothing is cast where nothing may be");
  }
}

}  // namespace tessera::fuzzing
