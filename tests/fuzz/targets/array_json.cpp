// Buffers as JSON numbers and lists, in array objects of every dtype and shape and as bare values.
#include <string>

#include "arrays.h"
#include "input.h"
#include "targets.h"

namespace tessera::fuzzing {
namespace {

void check_json_again(const ArrayReader& reader, const Array& array) {
  const std::optional<Array> again = read_array(reader, written(array, {}));
  // Integers have no null, and a list of rows says nothing of what is in them if there are none.
  require(again.has_value(), "what is written as JSON can be read");
  require(is_kept_by_json(array, *again), "an array survives JSON");
}

}  // namespace

void fuzz_array_json(std::string_view bytes) {
  Input input(bytes);
  const DType dtype = pick_dtype(input);
  const Shape shape = pick_shape(input);
  ArraySpec spec = pick_spec(input);
  const std::string_view buffer = input.rest();
  const ArrayReader reader(nullptr, {kMaxArrayBytes});
  if (const auto array = read_array(reader, array_object(dtype, shape, buffer, "json", false))) {
    require(array->dtype() == dtype && array->shape() == shape, "an array is what its object says");
    check_json_again(reader, *array);
  }
  if (const auto array = read_array(reader, buffer, spec)) {
    require(!spec.dtype.has_value() || array->dtype() == *spec.dtype, "a field gets its dtype");
    check_json_again(reader, *array);
  }
}

}  // namespace tessera::fuzzing
