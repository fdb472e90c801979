// A text that arrives in pieces, and is folded: it can be made whole again, and what is read of it is what is read of
// the whole.
#include "tessera/array/arriving_text.h"

#include <string>

#include "arrays.h"
#include "input.h"
#include "targets.h"
#include "tessera/array/base64.h"
#include "tessera/array/json_scanner.h"

namespace tessera::fuzzing {
namespace {

// Each fold stands for a whole text of the sender's.
void require_folds_of(const ArrivingText& arriving, std::string_view whole) {
  const std::string_view text = arriving.text();
  std::size_t in_whole = 0;
  for (std::size_t place = 0; place != text.size(); ++place) {
    if (const std::optional<Buffer> bytes = arriving.find_bytes(place)) {
      require(place > 0 && text[place - 1] == '"' && place + 1 < text.size() && text[place + 1] == '"',
              "only whole texts");
      std::string again(base64_length(bytes->size_bytes()), '\0');
      base64_encode(bytes->bytes(), again.data());
      require(whole.substr(in_whole, again.size()) == again, "what was decoded is what the text says");
      in_whole += again.size();
    } else {
      require(whole.substr(in_whole, 1) == text.substr(place, 1), "the rest stays as it is");
      ++in_whole;
    }
  }
  require(in_whole == whole.size(), "nothing is lost");
}

}  // namespace

void fuzz_arriving_text(std::string_view bytes) {
  Input input(bytes);
  const std::size_t piece = 1 + input.byte();
  const ArraySpec spec = pick_spec(input);
  const std::string_view text = input.rest();

  ArrivingText arriving = arrive(text, piece);
  require_folds_of(arriving, text);

  const ArrayReader reader(nullptr, {kMaxArrayBytes});
  JsonScanner plain(text);
  const auto expected = reader.read(plain, spec);
  JsonScanner scanner(arriving.text(), {.arrived = &arriving});
  const auto actual = reader.read(scanner, spec);
  const auto* const other = std::get_if<Array>(&actual);
  if (other != nullptr && !scanner.has_fault()) {
    const auto* const array = std::get_if<Array>(&expected);
    require(array != nullptr && !plain.has_fault() && are_same(*array, *other), "one text is one array");
  } else if (!arriving.is_folded()) {
    require(scanner.has_fault() == plain.has_fault() && actual.index() == expected.index(), "one text is one result");
  }
  arriving.unfold();
  require(!arriving.is_folded() && arriving.text() == text, "it can be made whole");
}

}  // namespace tessera::fuzzing
