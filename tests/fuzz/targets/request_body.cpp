// Bodies of calls: JSON, its values, validation against schemas; the 422 that comes of it, or the call and its answer.
#include "request_body.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "arrays.h"
#include "folder.h"
#include "input.h"
#include "targets.h"
#include "tessera/array/body.h"
#include "tessera/array/value_writer.h"
#include "tessera/base/confined_folder.h"
#include "tessera/tesseract/call.h"
#include "tessera/tesseract/context.h"
#include "tesseracts.h"

namespace tessera::fuzzing {
namespace {

// A jacobian has the square of the elements of its inputs.
constexpr std::uint64_t kMaxRunElements = 256;
// A list of so many empty rows is the answer to a short request.
constexpr std::int64_t kMaxRows = 1 << 16;

bool has_many_rows(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kArray:
      return std::ranges::any_of(value.array().shape(), [](std::int64_t size) { return size > kMaxRows; });
    case Value::Kind::kList:
      return std::ranges::any_of(value.list(), has_many_rows);
    case Value::Kind::kObject:
      return std::ranges::any_of(value.object().members(),
                                 [](const Object::Member& member) { return has_many_rows(member.value); });
    default:
      return false;
  }
}

void check_answer(const Object& outputs, const Encoding& encoding) {
  Body body;
  require(write_value(outputs, encoding, {}, body).has_value(), "an answer can be written");
  require_json(body.to_string(), "an answer is JSON");
}

void check_call(const TesseractDefinition& definition, const Call& call, bool must_not_fail) {
  if (count_elements(call.inputs) > kMaxRunElements || has_many_rows(call.inputs)) {
    return;
  }
  SilentContext context;
  const std::variant<Object, EndpointFailure> outcome = run_call(definition, call, context, true);
  if (const auto* const failure = std::get_if<EndpointFailure>(&outcome)) {
    if (must_not_fail) {
      throw Broken("a call that was accepted fails: " + failure->text);
    }
    return;
  }
  check_answer(std::get<Object>(outcome), {});
  check_answer(std::get<Object>(outcome), {.format = OutputFormat::kBase64, .compression = Compression::kLz4});
}

std::string text_of(const CallOrFault& read) {
  if (const auto* const fault = std::get_if<JsonFault>(&read)) {
    return fault->text + " at " + std::to_string(fault->position);
  }
  if (const auto* const problems = std::get_if<std::vector<Problem>>(&read)) {
    return problems_to_json(*problems);
  }
  Body body;
  require(write_value(std::get<Call>(read).inputs, {.format = OutputFormat::kBase64}, {}, body).has_value(),
          "what was read can be written");
  return body.to_string();
}

}  // namespace

void fuzz_request_body(std::string_view bytes) {
  static const Folder kFolder;
  static const ConfinedFolder kFiles = [] {
    kFolder.write("a.bin", std::string(64, '\x3f'));
    return ConfinedFolder::open(kFolder.path()).value();
  }();

  Input input(bytes);
  const std::size_t which = input.pick(tesseracts().size());
  const TesseractDefinition& definition = *tesseracts()[which];
  auto endpoint = static_cast<Endpoint>(input.pick(kEndpointCount));
  if (!definition.has(endpoint)) {
    endpoint = Endpoint::kApply;
  }
  const ArrayReader arrays(&kFiles, {kMaxArrayBytes});
  const std::string_view text = input.rest();
  const CallOrFault read = read_call(definition, endpoint, text, arrays);
  ArrivingText arriving = arrive(text, 1 + text.size() % 29);
  const auto of_arrived =
      RequestBody(arriving).read<Call>([&](std::string_view arrived_text, const ArrivingText* arrived) {
        return read_call(definition, endpoint, arrived_text, arrays, {.arrived = arrived});
      });
  require(of_arrived.index() == read.index() && text_of(of_arrived) == text_of(read),
          "a body means the same however it arrived");
  if (const auto* const problems = std::get_if<std::vector<Problem>>(&read)) {
    require(!problems->empty(), "a refusal says why");
    require_json(problems_to_json(*problems), "a 422 is JSON");
    static_cast<void>(problems_to_text(*problems, "InputSchema"));
  } else if (const auto* const call = std::get_if<Call>(&read); call != nullptr && which + 1 < tesseracts().size()) {
    check_call(definition, *call, which == 0);  // `everything` fails at nothing that fits its schema
  }
}

}  // namespace tessera::fuzzing
