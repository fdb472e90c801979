// Bodies of /test: a payload to run, and what is expected of it.
#include "tessera/tesseract/test_spec.h"

#include <string>
#include <variant>
#include <vector>

#include "input.h"
#include "targets.h"
#include "tessera/array/array_reader.h"
#include "tessera/tesseract/context.h"
#include "tesseracts.h"

namespace tessera::fuzzing {
namespace {

// A jacobian has the square of the elements of its inputs.
constexpr std::uint64_t kMaxTestArrayBytes = 1024;

}  // namespace

void fuzz_test_spec(std::string_view bytes) {
  Input input(bytes);
  const TesseractDefinition& definition = *tesseracts()[input.pick(tesseracts().size() - 1)];
  const ArrayReader arrays(nullptr, {kMaxTestArrayBytes});
  const auto spec = read_test_spec(input.rest(), arrays);
  if (const auto* const problems = std::get_if<std::vector<Problem>>(&spec)) {
    require(!problems->empty(), "a refusal says why");
    require_json(problems_to_json(*problems), "a 422 is JSON");
    return;
  }
  if (const auto* const test = std::get_if<TestSpec>(&spec)) {
    SilentContext context;
    const auto outcome = run_test(definition, *test, arrays, context);
    if (const auto* const done = std::get_if<TestOutcome>(&outcome)) {
      require_json(done->to_json(), "an outcome is JSON");
    }
  }
}

}  // namespace tessera::fuzzing
