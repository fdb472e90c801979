// The JSON of responses as the client reads it: with arrays, without, and as a refusal.
#include "response_value.h"

#include <string>

#include "arrays.h"
#include "folder.h"
#include "input.h"
#include "refusal.h"
#include "targets.h"
#include "tessera/array/body.h"
#include "tessera/array/value_writer.h"
#include "tessera/base/confined_folder.h"
#include "tessera/sdk/client_error.h"

namespace tessera::fuzzing {
namespace {

std::string json_of(const Value& value) {
  Body body;
  require(write_value(value, {}, {}, body).has_value(), "a value can be written");
  return body.to_string();
}

void check_plain(std::string_view text) {
  try {
    const std::string json = json_of(read_plain_value(text));
    require_json(json, "a value is written as JSON");
    require(json_of(read_plain_value(json)) == json, "a value survives its JSON");
  } catch (const ClientError& error) {
    require(error.kind() == ClientError::Kind::kBadResponse, "what is no JSON is told apart");
  }
}

void check_refusal(std::string_view text, int status) {
  HttpResponse response;
  response.status = status;
  response.buffer = Buffer::allocate(text.size());
  text.copy(reinterpret_cast<char*>(response.buffer.data()), text.size());
  response.size_bytes = text.size();
  response.location = std::string(text.substr(0, 100));
  const ClientError error = refusal_of("apply", response);
  require(error.what()[0] != '\0', "a refusal says why");
}

}  // namespace

void fuzz_response_value(std::string_view text) {
  static const Folder kFolder;
  static const ConfinedFolder kFiles = [] {
    kFolder.write("run_1/a.bin", std::string(64, '\x3f'));
    return ConfinedFolder::open(kFolder.path()).value();
  }();
  for (const ConfinedFolder* const files : {static_cast<const ConfinedFolder*>(nullptr), &kFiles}) {
    try {
      static_cast<void>(read_response_value(text, {.files = files}));
    } catch (const ClientError& error) {
      require(error.what()[0] != '\0', "an error says what is wrong");
    }
  }
  check_plain(text);
  check_refusal(text, 422);
  check_refusal(text, 500);
}

}  // namespace tessera::fuzzing
