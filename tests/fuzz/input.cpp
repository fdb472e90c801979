#include "input.h"

#include <nlohmann/json.hpp>
#include <string>

namespace tessera::fuzzing {

// The grammar of JSON has lone surrogates as escapes, and so have Python's reader and ours; this reader has not.
void require_json(std::string_view text, const char* what) {
  std::string without_surrogates(text);
  for (std::size_t at = text.find("\\u"); at != std::string_view::npos; at = text.find("\\u", at + 1)) {
    if (text.size() - at >= 6 && (text[at + 2] == 'd' || text[at + 2] == 'D')) {
      without_surrogates[at + 2] = '0';
    }
  }
  require(nlohmann::json::accept(without_surrogates), what);
}

}  // namespace tessera::fuzzing
