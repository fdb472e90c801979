// The running servers that the tests call, as the command line names them, and what each test asks of its own.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "unit/sdk/client_errors.h"

namespace tessera::testing {

/// A plain value.
struct GivenServer {
  std::string name;
  std::string url;
  std::filesystem::path input_path;   ///< as this process sees the folder that the server reads from
  std::filesystem::path output_path;  ///< the one that it writes to
};

/// Takes `NAME=URL,FOLDER` from each argument; FOLDER has the server's `in` and `out`. Throws std::runtime_error.
void set_given_servers(std::span<char* const> arguments);
/// Nothing if it was not given.
[[nodiscard]] const GivenServer* find_given_server(std::string_view name);

/// A test of one server, which is skipped if that one was not given. At its end the server is well, and the client has
/// warned of what was expected alone.
class ServerTest : public ::testing::Test {
 protected:
  explicit ServerTest(std::string name) : name_(std::move(name)) {}
  void SetUp() override;
  void TearDown() override;

  [[nodiscard]] const GivenServer& server() const { return *server_; }
  /// With the folders of the server.
  [[nodiscard]] ClientOptions options();
  [[nodiscard]] Tesseract connect() { return Tesseract::from_url(server().url, options()); }
  [[nodiscard]] Tesseract connect(const RequestedEncoding& encoding) { return connect().with_encoding(encoding); }
  [[nodiscard]] Warnings& warnings() { return warnings_; }

 private:
  std::string name_;
  const GivenServer* server_ = nullptr;
  Warnings warnings_;
};

/// The elements of an array of a result, wherever they are.
template <class T>
[[nodiscard]] std::vector<T> elements_of(const Value& value) {
  const Array array = value.array().to_host().value();
  const std::span<const T> elements = array.values<T>();
  return {elements.begin(), elements.end()};
}

}  // namespace tessera::testing
