#include "encoding_request.h"

#include "client_errors.h"

namespace tessera {
namespace {

using testing::expect_error;

RequestedEncoding wish(std::optional<std::string> format, std::optional<std::string> transport = std::nullopt,
                       std::optional<std::string> compression = std::nullopt) {
  return {std::move(format), std::move(transport), std::move(compression)};
}

const std::vector<std::string> kFormats{"json", "json+base64", "json+binref"};
const std::vector<std::string> kCompressions{"none", "lz4"};

ServerCapabilities of_1_15() {
  return {kFormats, std::vector<std::string>{"none"}, kCompressions};
}
ServerCapabilities of_1_15_with_gpu() {
  return {kFormats, std::vector<std::string>{"none", "cuda_ipc"}, kCompressions};
}
ServerCapabilities of_1_14() {
  return {kFormats, std::nullopt, kCompressions};
}
ServerCapabilities of_1_13() {
  return {kFormats, std::nullopt, std::nullopt};
}

void expect_wish_refused(const RequestedEncoding& encoding, const ServerCapabilities& server, std::string_view part) {
  expect_error(ClientError::Kind::kInvalidArgument, part, [&] { static_cast<void>(fit_to_server(encoding, server)); });
}

TEST(FitToServerTest, TakesWhatIsAccepted) {
  for (const RequestedEncoding& encoding :
       {wish({}), wish("json"), wish("json+binref", "none", "lz4"), wish({}, "cuda_ipc"), wish({}, {}, "none")}) {
    EXPECT_EQ(fit_to_server(encoding, of_1_15_with_gpu()), encoding);
  }
}

TEST(FitToServerTest, RefusesWhatIsNotAccepted) {
  expect_wish_refused(wish("json+msgpack"), of_1_15(),
                      "This Tesseract does not accept output_format='json+msgpack' "
                      "(accepted: ('json', 'json+base64', 'json+binref'))");
  expect_wish_refused(wish({}, "cuda_ipc"), of_1_15(),
                      "This Tesseract does not accept gpu_transport='cuda_ipc' (accepted: ('none',))");
  expect_wish_refused(wish({}, {}, "gzip"), of_1_15(),
                      "This Tesseract does not accept compression='gzip' (accepted: ('none', 'lz4'))");
}

TEST(FitToServerTest, RefusesEverythingWhereNothingIsAccepted) {
  expect_wish_refused(wish("json"), {std::vector<std::string>{}, {}, {}}, "(accepted: ())");
}

TEST(FitToServerTest, LeavesTransportsOfOlderRuntimesAlone) {
  EXPECT_EQ(fit_to_server(wish("json", "none"), of_1_13()), wish("json", "none"));
  EXPECT_EQ(fit_to_server(wish({}, "none", "lz4"), of_1_14()), wish({}, "none", "lz4"));
  expect_wish_refused(wish({}, "cuda_ipc"), of_1_13(), "(1.13 or 1.14) passes GPU arrays in a format");
  expect_wish_refused(wish({}, "cuda_ipc"), of_1_14(), "request gpu_transport='none'");
}

TEST(FitToServerTest, AsksARuntimeThatStatesNoCompressionsForOne) {
  EXPECT_EQ(fit_to_server(wish({}, {}, "lz4"), of_1_13()), wish({}, {}, "lz4"));
}

TEST(FitToServerTest, AsksTheOldestRuntimesForAFormatAtMost) {
  EXPECT_EQ(fit_to_server(wish({}, "none"), {}), wish({}));
  EXPECT_EQ(fit_to_server(wish("json+base64", "none"), {}), wish("json+base64"));
  expect_wish_refused(wish({}, "cuda_ipc"), {}, "older than 1.13 and cannot be asked for gpu_transport per request");
  expect_wish_refused(wish({}, {}, "lz4"), {}, "cannot be asked for compression per request");
  expect_wish_refused(wish({}, "cuda_ipc", "lz4"), {}, "cannot be asked for gpu_transport or compression per request");
}

TEST(FitToServerTest, RefusesNamesThatWouldBreakTheHeader) {
  for (const char* const name : {"json\r\nX: y", "json, text", "json;q=1", "js on", "json\x7f", "jsön"}) {
    expect_wish_refused(wish(name), {}, "output_format is not the name of one");
  }
  expect_wish_refused(wish({}, "none\n"), {}, "gpu_transport is not the name of one");
  expect_wish_refused(wish({}, {}, "lz4;"), of_1_13(), "compression is not the name of one");
}

TEST(AcceptHeaderTest, NamesWhatIsAskedFor) {
  EXPECT_EQ(accept_header(wish({})), std::nullopt);
  EXPECT_EQ(accept_header(wish({}, "none")), "application/*; gpu_transport=none");
  EXPECT_EQ(accept_header(wish("json+base64")), "application/json+base64");
  EXPECT_EQ(accept_header(wish("json+base64", "cuda_ipc", "lz4")),
            "application/json+base64; gpu_transport=cuda_ipc; compression=lz4");
  EXPECT_EQ(accept_header(wish({}, {}, "none")), "application/*; compression=none");
}

TEST(MergedEncodingTest, KeepsWhatIsNotOverridden) {
  EXPECT_EQ(merged(wish("json", "none"), wish({}, "cuda_ipc", "lz4")), wish("json", "cuda_ipc", "lz4"));
  EXPECT_EQ(merged(wish("json", "none", "lz4"), wish({})), wish("json", "none", "lz4"));
}

}  // namespace
}  // namespace tessera
