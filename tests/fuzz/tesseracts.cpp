#include "tesseracts.h"

#include <stdexcept>
#include <vector>

#include "tessera/tesseract/module.h"

namespace tessera::fuzzing {
namespace {

using Definitions = std::vector<std::shared_ptr<const TesseractDefinition>>;

Definitions load_all() {
  Definitions loaded;
  for (const char* const path : {TESSERA_EVERYTHING, TESSERA_UNIVARIATE, TESSERA_VECTORADD, TESSERA_MIXER}) {
    auto module = load_module(path);
    if (!module.has_value()) {
      throw std::runtime_error(module.error().message());
    }
    loaded.push_back(*std::move(module));
  }
  return loaded;
}

std::uint64_t count_in(const Value& value) {
  std::uint64_t count = 0;
  switch (value.kind()) {
    case Value::Kind::kArray:
      return value.array().has_data() ? static_cast<std::uint64_t>(value.array().size()) : 0;
    case Value::Kind::kList:
      for (const Value& item : value.list()) {
        count += count_in(item);
      }
      return count;
    case Value::Kind::kObject:
      return count_elements(value.object());
    default:
      return 0;
  }
}

}  // namespace

std::span<const std::shared_ptr<const TesseractDefinition>> tesseracts() {
  static const Definitions kAll = load_all();
  return kAll;
}

std::uint64_t count_elements(const Object& inputs) {
  std::uint64_t count = 0;
  for (const Object::Member& member : inputs.members()) {
    count += count_in(member.value);
  }
  return count;
}

}  // namespace tessera::fuzzing
