// Small grammars that users write: ages, ports, words of a shell, URLs, numbers and booleans in texts.
#include <array>
#include <string>
#include <vector>

#include "age.h"
#include "closest_word.h"
#include "input.h"
#include "port_range.h"
#include "request_target.h"
#include "server_address.h"
#include "shell_words.h"
#include "targets.h"
#include "tessera/array/python_number.h"
#include "tessera/base/utf8.h"
#include "tessera/daemon/config.h"
#include "tessera/sdk/client_error.h"

namespace tessera::fuzzing {
namespace {

void check_address(std::string_view url) {
  try {
    const ServerAddress address = ServerAddress::parse(url);
    require(address.unix_path.empty() != address.host.empty(), "an address is of a host or of a path");
    for (const std::string& line : {address.host_header, address.authorization, address.prefix}) {
      require(line.find_first_of("\r\n") == std::string::npos, "what goes into a head is one line");
    }
  } catch (const ClientError& error) {
    require(error.kind() == ClientError::Kind::kInvalidArgument, "a bad URL is the caller's fault");
  }
}

}  // namespace

void fuzz_words(std::string_view text) {
  static const std::array<std::string, 3> kCommands{"serve", "run", "probe"};
  static_cast<void>(parse_age(text));
  if (const auto ports = parse_port_range(text)) {
    require(ports->first <= ports->last, "a range is not empty");
  }
  static_cast<void>(split_shell_words(text));
  static_cast<void>(find_closest_word(text, kCommands));
  static_cast<void>(parse_boolean(text));
  static_cast<void>(parse_python_float(text));
  static_cast<void>(parse_python_complex(text));
  static_cast<void>(parse_lax_integer(text));
  static_cast<void>(config_from([text](const std::string&) { return std::string(text); }));
  check_address(text);
  if (is_utf8(text)) {
    std::string target = "run_id=";
    append_query_value(target, text);
    require(find_parameter(target, "run_id") == text, "a value survives its query");
  }
}

}  // namespace tessera::fuzzing
