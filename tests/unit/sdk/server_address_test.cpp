#include "server_address.h"

#include "client_errors.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using testing::expect_error;

void expect_refused(std::string_view url, std::string_view part) {
  expect_error(Kind::kInvalidArgument, part, [url] { static_cast<void>(ServerAddress::parse(url)); });
}

struct TcpCase {
  const char* url;
  const char* host;
  const char* port;
  const char* prefix;
  const char* host_header;
  const char* text;
};

class TcpAddressTest : public ::testing::TestWithParam<TcpCase> {};

TEST_P(TcpAddressTest, HasItsParts) {
  const TcpCase& wanted = GetParam();
  const ServerAddress address = ServerAddress::parse(wanted.url);
  EXPECT_EQ(address.host, wanted.host);
  EXPECT_EQ(address.port, wanted.port);
  EXPECT_EQ(address.prefix, wanted.prefix);
  EXPECT_EQ(address.host_header, wanted.host_header);
  EXPECT_EQ(address.text, wanted.text);
  EXPECT_EQ(address.unix_path, "");
  EXPECT_EQ(address.authorization, "");
}

INSTANTIATE_TEST_SUITE_P(
    Urls, TcpAddressTest,
    ::testing::Values(TcpCase{"http://h:8000", "h", "8000", "", "h:8000", "http://h:8000"},
                      TcpCase{"http://h", "h", "80", "", "h", "http://h"},
                      TcpCase{"http://h:", "h", "80", "", "h:", "http://h:"},
                      TcpCase{"HTTP://h:1", "h", "1", "", "h:1", "http://h:1"},
                      TcpCase{"h:8000", "h", "8000", "", "h:8000", "http://h:8000"},
                      TcpCase{"localhost:8000", "localhost", "8000", "", "localhost:8000", "http://localhost:8000"},
                      TcpCase{"127.0.0.1:8000", "127.0.0.1", "8000", "", "127.0.0.1:8000", "http://127.0.0.1:8000"},
                      TcpCase{"h", "h", "80", "", "h", "http://h"},
                      TcpCase{"http://h:8000/", "h", "8000", "", "h:8000", "http://h:8000"},
                      TcpCase{"http://h:8000///", "h", "8000", "", "h:8000", "http://h:8000"},
                      TcpCase{"http://h:8000/a/b/", "h", "8000", "/a/b", "h:8000", "http://h:8000/a/b"},
                      TcpCase{"h:8000/a", "h", "8000", "/a", "h:8000", "http://h:8000/a"},
                      TcpCase{"http://h:8000/a?b=c", "h", "8000", "/a", "h:8000", "http://h:8000/a"},
                      TcpCase{"http://h:8000/a/#b", "h", "8000", "/a", "h:8000", "http://h:8000/a"},
                      TcpCase{"http://h:8000?b", "h", "8000", "", "h:8000", "http://h:8000"},
                      TcpCase{"http://[::1]:8000", "::1", "8000", "", "[::1]:8000", "http://[::1]:8000"},
                      TcpCase{"http://[::1]/a", "::1", "80", "/a", "[::1]", "http://[::1]/a"},
                      TcpCase{"[::1]:9", "::1", "9", "", "[::1]:9", "http://[::1]:9"},
                      TcpCase{"http://h:65535", "h", "65535", "", "h:65535", "http://h:65535"}));

TEST(ServerAddressTest, MakesCredentialsBasicAuthorization) {
  const ServerAddress address = ServerAddress::parse("http://user:password@h:1/a");
  EXPECT_EQ(address.authorization, "Basic dXNlcjpwYXNzd29yZA==");
  EXPECT_EQ(address.host_header, "h:1");
  EXPECT_EQ(address.text, "http://h:1/a");
}

TEST(ServerAddressTest, DecodesCredentials) {
  EXPECT_EQ(ServerAddress::parse("http://a%40b:%2f%@h").authorization, "Basic YUBiOi8l");
}

TEST(ServerAddressTest, TakesTheLastAtAsTheEndOfCredentials) {
  const ServerAddress address = ServerAddress::parse("http://a:b@c@h");
  EXPECT_EQ(address.host, "h");
  EXPECT_EQ(address.authorization, "Basic YTpiQGM=");
}

TEST(ServerAddressTest, ShowsNoCredentialsInErrors) {
  const auto error = testing::error_of([] { static_cast<void>(ServerAddress::parse("http://user:secret@h:x")); });
  ASSERT_TRUE(error.has_value());
  EXPECT_THAT(error->what(), ::testing::Not(::testing::HasSubstr("secret")));
}

TEST(ServerAddressTest, ReadsAUnixSocket) {
  const ServerAddress address = ServerAddress::parse("unix:/run/t.sock");
  EXPECT_EQ(address.unix_path, "/run/t.sock");
  EXPECT_EQ(address.prefix, "");
  EXPECT_EQ(address.host, "");
  EXPECT_EQ(address.host_header, "localhost");
  EXPECT_EQ(address.text, "unix:/run/t.sock");
}

TEST(ServerAddressTest, ReadsAUnixSocketWithAPrefix) {
  const ServerAddress address = ServerAddress::parse("unix:/run/t.sock:/vectoradd/");
  EXPECT_EQ(address.unix_path, "/run/t.sock");
  EXPECT_EQ(address.prefix, "/vectoradd");
  EXPECT_EQ(address.text, "unix:/run/t.sock:/vectoradd");
}

TEST(ServerAddressTest, ReadsAColonInThePathOfASocket) {
  const ServerAddress address = ServerAddress::parse("unix:here:1.sock:/a");
  EXPECT_EQ(address.unix_path, "here:1.sock");
  EXPECT_EQ(address.prefix, "/a");
}

TEST(ServerAddressTest, RefusesASocketWithoutAName) {
  expect_refused("unix:", "it names no socket");
  expect_refused("unix::/a", "it names no socket");
}

TEST(ServerAddressTest, RefusesAPathThatIsTooLongForASocket) {
  EXPECT_EQ(ServerAddress::parse("unix:" + std::string(107, 'a')).unix_path.size(), 107U);
  expect_refused("unix:" + std::string(108, 'a'), "107 bytes at most, this one has 108");
}

TEST(ServerAddressTest, RefusesANulInThePathOfASocket) {
  using namespace std::string_view_literals;
  expect_refused("unix:/run/a\0b"sv, "NUL");
}

TEST(ServerAddressTest, RefusesOtherSchemes) {
  expect_refused("https://h", "TLS is not spoken here");
  expect_refused("ftp://h", "'ftp' is none of http and unix");
  expect_refused("http+unix://%2Frun%2Ft.sock", "'http+unix' is none of http and unix");
}

TEST(ServerAddressTest, RefusesAUrlWithoutAHost) {
  expect_refused("", "it names no host");
  expect_refused("http://", "it names no host");
  expect_refused("http://:8000", "it names no host");
  expect_refused("http:///a", "it names no host");
  expect_refused("http://[]:1", "it names no host");
  expect_refused("http://user@", "it names no host");
}

TEST(ServerAddressTest, RefusesPortsThatAreNone) {
  expect_refused("http://h:65536", "'65536' is not a port");
  expect_refused("http://h:123456", "'123456' is not a port");
  expect_refused("http://h:-1", "'-1' is not a port");
  expect_refused("http://h:+1", "'+1' is not a port");
  expect_refused("http://h:http", "'http' is not a port");
  expect_refused("http://h:1:2", "'1:2' is not a port");
  expect_refused("http://::1:8000", "it names no host");
}

TEST(ServerAddressTest, RefusesBracketsThatAreWrong) {
  expect_refused("http://[::1", "a bracket is not closed");
  expect_refused("http://[::1]8000", "something stands between the bracket and the port");
}

TEST(ServerAddressTest, RefusesSpacesAndControlCharacters) {
  expect_refused("http://h/a b", "a space or a control character");
  expect_refused("http://h/a\r\nX: y", "a space or a control character");
  expect_refused("http://h\r\nX: y", "a space or a control character");
  expect_refused("http://h /a", "a space or a control character");
  expect_refused("http://h/\x7f", "a space or a control character");
  expect_refused("unix:/a.sock:/b\nc", "a space or a control character");
}

TEST(QueryValueTest, EncodesAllButUnreservedCharacters) {
  std::string target = "/apply?run_id=";
  append_query_value(target, "run 1/ü&=+~-._Z\n");
  EXPECT_EQ(target, "/apply?run_id=run%201%2F%C3%BC%26%3D%2B~-._Z%0A");
}

}  // namespace
}  // namespace tessera
