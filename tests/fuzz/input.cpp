#include "input.h"

#include <nlohmann/json.hpp>

namespace tessera::fuzzing {

void require_json(std::string_view text, const char* what) {
  require(nlohmann::json::accept(text), what);
}

}  // namespace tessera::fuzzing
