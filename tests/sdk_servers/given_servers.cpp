#include "given_servers.h"

#include <algorithm>
#include <stdexcept>

namespace tessera::testing {
namespace {

std::vector<GivenServer>& given_servers() {
  static std::vector<GivenServer> servers;
  return servers;
}

}  // namespace

void set_given_servers(std::span<char* const> arguments) {
  for (const char* const argument : arguments) {
    const std::string text = argument;
    const std::size_t equals = text.find('=');
    const std::size_t comma = text.find(',', equals == std::string::npos ? 0 : equals);
    if (equals == std::string::npos || comma == std::string::npos) {
      throw std::runtime_error("not NAME=URL,FOLDER: " + text);
    }
    const std::filesystem::path folder = text.substr(comma + 1);
    given_servers().push_back(
        {text.substr(0, equals), text.substr(equals + 1, comma - equals - 1), folder / "in", folder / "out"});
  }
  if (given_servers().empty()) {
    throw std::runtime_error("no server was given: NAME=URL,FOLDER");
  }
}

const GivenServer* find_given_server(std::string_view name) {
  const auto found = std::ranges::find(given_servers(), name, &GivenServer::name);
  return found == given_servers().end() ? nullptr : &*found;
}

void ServerTest::SetUp() {
  server_ = find_given_server(name_);
  if (server_ == nullptr) {
    GTEST_SKIP() << "no server " << name_ << " was given";
  }
}

void ServerTest::TearDown() {
  if (server_ == nullptr) {
    return;
  }
  EXPECT_EQ(connect().health().object()["status"].text(), "ok");
  EXPECT_THAT(warnings_.sentences(), ::testing::IsEmpty());
}

ClientOptions ServerTest::options() {
  ClientOptions options;
  options.server_output_path = server().output_path;
  options.warn = warnings_.collector();
  // Nothing here takes that long; a test that hangs says where.
  options.timeouts.total = std::chrono::seconds(60);
  return options;
}

}  // namespace tessera::testing
