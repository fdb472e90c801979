// The payload of `tessera run`: a text, or a file that holds it, up to the words in which it is refused.
#include <sys/types.h>

#include <filesystem>
#include <string>

#include "command.h"
#include "endpoint_run.h"
#include "folder.h"
#include "input.h"
#include "payload_text.h"
#include "result_channel.h"
#include "targets.h"
#include "tesseracts.h"

namespace tessera::fuzzing {
namespace {

// Accepts nothing, so that no run begins, whose files would be made each time.
TesseractDefinition make_strict(const TesseractDefinition& definition) {
  Schema inputs = definition.inputs();
  inputs.rule([](const Object&) { return "nothing is accepted"; });
  TesseractDefinition strict("strict");
  strict.inputs(std::move(inputs)).outputs(definition.outputs());
  strict.apply(definition.apply()).jacobian(definition.jacobian());
  strict.jacobian_vector_product(definition.jacobian_vector_product());
  strict.vector_jacobian_product(definition.vector_jacobian_product());
  return strict;
}

void run_strict(const std::string& word) {
  static const TesseractDefinition kDefinition = make_strict(*tesseracts()[0]);
  static const char* const kCommands[] = {"apply", "jacobian", "jacobian-vector-product", "vector-jacobian-product"};
  const std::string payload = text_of_payload(word);
  const ResultChannel channel;
  for (const char* const command : kCommands) {
    try {
      run_endpoint(kDefinition, command, payload, RuntimeConfig(), channel);
    } catch (const CommandError& error) {
      require(error.code() == ExitCode::kFailure || error.code() == ExitCode::kUsage, "a refusal has its code");
      require(error.what()[0] != '\0', "a refusal says why");
      continue;
    }
    throw Broken("a payload that breaks a rule is refused");
  }
}

}  // namespace

void fuzz_payload(std::string_view bytes) {
  static const Folder kFolder;
  // Files of the machine are no input: a name is looked for in a folder of our own, and in no other.
  static const bool kIsThere = [] {
    kFolder.write("p.json", R"({"inputs": {}})");
    std::filesystem::current_path(kFolder.path());
    return true;
  }();
  require(kIsThere, "there is a folder");
  const std::string word(bytes.substr(0, bytes.find('\0')));  // a word of a command line ends there
  if (word.starts_with('@') && word.find('/') != std::string::npos) {
    return;
  }
  try {
    run_strict(word);
  } catch (const CommandError& error) {
    require(error.what()[0] != '\0', "a refusal says why");
  }
}

}  // namespace tessera::fuzzing
