// Servers whose HTTP is right, and whose JSON or arrays are not.
#include <cmath>
#include <string>

#include "client_errors.h"
#include "scripted_server.h"
#include "support/temp_folder.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using testing::error_of;
using testing::expect_error;
using ::testing::HasSubstr;
using testing::ok_response;
using testing::ScriptedServer;
using testing::TempFolder;

Value apply_answered(const std::string& body, const ClientOptions& options = {}) {
  const ScriptedServer server(ScriptedServer::answering(ok_response(body)));
  return Tesseract::from_url(server.url(), options).apply({{"x", 1}});
}

void expect_refused_body(Kind kind, const std::string& body, std::string_view part, const ClientOptions& options = {}) {
  expect_error(kind, part, [&] { static_cast<void>(apply_answered(body, options)); });
}

// {"y": …} with an array object.
std::string array_text(const std::string& shape, const std::string& dtype, const std::string& data) {
  return R"({"y":{"object_type":"array","shape":)" + shape + R"(,"dtype":")" + dtype + R"(","data":)" + data + "}}";
}

TEST(BadValuesTest, ReadsEveryKindOfValue) {
  const Value value = apply_answered(
      R"({"a":null,"b":true,"c":-5,"d":18446744073709551615,"e":1.5,"f":"ü\n","g":[1,[2]],"h":{"object_type":"x"},)"
      R"("i":NaN,"j":123456789012345678901234567890})");
  const Object& object = value.object();
  EXPECT_TRUE(object["a"].is_null());
  EXPECT_TRUE(object["b"].boolean());
  EXPECT_EQ(object["c"].integer(), -5);
  EXPECT_EQ(object["d"].unsigned_integer(), UINT64_MAX);
  EXPECT_EQ(object["e"].number(), 1.5);
  EXPECT_EQ(object["f"].text(), "ü\n");
  EXPECT_EQ(object["g"].list()[1].list()[0].integer(), 2);
  EXPECT_EQ(object["h"].object()["object_type"].text(), "x");
  EXPECT_NE(object["i"].number(), object["i"].number());
  EXPECT_EQ(object["j"].number(), 123456789012345678901234567890.0);
}

TEST(BadValuesTest, ReadsAResultThatIsAnArrayOrAList) {
  EXPECT_EQ(apply_answered(
                R"({"object_type":"array","shape":[2],"dtype":"int8","data":{"buffer":"AQI=","encoding":"base64"}})")
                .array()
                .values<std::int8_t>()[1],
            2);
  EXPECT_EQ(apply_answered("[1,2]").list().size(), 2U);
}

TEST(BadValuesTest, ReadsAnObjectTypeThatComesLate) {
  const Value value = apply_answered(
      R"({"y":{"data":{"buffer":[1,2],"encoding":"json"},"shape":[2],"dtype":"float32","object_type":"array"}})");
  EXPECT_EQ(value.object()["y"].array().values<float>()[1], 2.0F);
}

// As runtimes before 1.0 write them (PROTOCOL.md section 10.3).
TEST(BadValuesTest, ReadsTheEncodingRawAsJson) {
  const Value numbers =
      apply_answered(array_text("[2,2]", "float32", R"({"buffer":[[1,null],[2.5,4]],"encoding":"raw"})"));
  const Array& array = numbers.object()["y"].array();
  EXPECT_EQ(array.shape(), (Shape{2, 2}));
  EXPECT_EQ(array.values<float>()[0], 1.0F);
  EXPECT_TRUE(std::isnan(array.values<float>()[1]));
  EXPECT_EQ(array.values<float>()[2], 2.5F);
  const Value flat = apply_answered(array_text("[2,2]", "int64", R"({"encoding":"raw","buffer":[1,2,3,4]})"));
  EXPECT_EQ(flat.object()["y"].array().values<std::int64_t>()[3], 4);
  EXPECT_EQ(apply_answered(array_text("[]", "int8", R"({"buffer":7,"encoding":"raw"})"))
                .object()["y"]
                .array()
                .item<std::int8_t>(),
            7);
  expect_refused_body(Kind::kBadResponse, array_text("[3]", "int8", R"({"buffer":[1,2],"encoding":"raw"})"),
                      "result: y");
}

TEST(BadValuesTest, LeavesObjectsWithoutAnObjectTypeAlone) {
  const Value value = apply_answered(R"({"y":{"shape":[2],"dtype":"float32"}})");
  EXPECT_EQ(value.object()["y"].object()["dtype"].text(), "float32");
}

TEST(BadValuesTest, RefusesWhatIsNotJson) {
  for (const char* const body : {"", "<html>", "{", R"({"a":)", R"({"a":1}x)", "[1,", "{'a':1}", "nul"}) {
    expect_refused_body(Kind::kBadResponse, body, "the server's response cannot be read: it is no JSON");
  }
  expect_refused_body(Kind::kBadResponse, "\"\xff\xfe\"", "it is not UTF-8");
}

TEST(BadValuesTest, RefusesDeepJson) {
  expect_refused_body(Kind::kBadResponse, std::string(1'000'000, '['), "it is nested too deeply");
  std::string objects;
  for (int i = 0; i != 100'000; ++i) {
    objects += R"({"a":)";
  }
  expect_refused_body(Kind::kBadResponse, objects, "it is nested too deeply");
}

TEST(BadValuesTest, RefusesManyArraysThatSayLateThatTheyAre) {
  std::string body = "1";
  for (int i = 0; i != 400; ++i) {
    body.insert(0, R"({"a":)").append(R"(,"object_type":"array"})");
  }
  expect_refused_body(Kind::kBadResponse, body, "an array of the result: a.a.a");
}

TEST(BadValuesTest, NamesThePlaceOfAWrongArray) {
  const auto error =
      error_of([] { static_cast<void>(apply_answered(R"({"list":[{"deep":{"object_type":"array"}}]})")); });
  ASSERT_TRUE(error.has_value());
  EXPECT_THAT(error->what(), HasSubstr("an array of the result: list.0.deep"));
}

TEST(BadValuesTest, RefusesArraysWithWrongMembers) {
  const std::string data = R"({"buffer":"AQI=","encoding":"base64"})";
  expect_refused_body(Kind::kBadResponse, array_text("[2]", "int9", data), "result: y");
  expect_refused_body(Kind::kBadResponse, array_text("2", "int8", data), "result: y");
  expect_refused_body(Kind::kBadResponse, array_text("[-2]", "int8", data), "result: y");
  expect_refused_body(Kind::kBadResponse, array_text("[4611686018427387904,4611686018427387904]", "int8", data),
                      "result: y");
  expect_refused_body(Kind::kBadResponse, array_text("[2]", "int8", "[1,2,{}]"), "result: y");
  expect_refused_body(Kind::kBadResponse, R"({"y":{"object_type":"array","shape":[2],"dtype":"int8"}})", "result: y");
}

TEST(BadValuesTest, RefusesBuffersOfTheWrongLength) {
  expect_refused_body(Kind::kBadResponse, array_text("[3]", "int8", R"({"buffer":"AQI=","encoding":"base64"})"),
                      "result: y (base64)");
  expect_refused_body(Kind::kBadResponse, array_text("[1]", "int8", R"({"buffer":"AQI=","encoding":"base64"})"),
                      "result: y (base64)");
  expect_refused_body(Kind::kBadResponse, array_text("[3]", "int8", R"({"buffer":[1,2],"encoding":"json"})"),
                      "cannot reshape array of size 2 into shape (3,)");
  expect_refused_body(Kind::kBadResponse, array_text("[1000000000000]", "int8", R"({"buffer":[1],"encoding":"json"})"),
                      "result: y");
}

TEST(BadValuesTest, RefusesBuffersThatCannotBeDecoded) {
  expect_refused_body(Kind::kBadResponse, array_text("[2]", "int8", R"({"buffer":"A!I=","encoding":"base64"})"),
                      "result: y (base64)");
  expect_refused_body(Kind::kBadResponse, array_text("[2]", "int8", R"({"buffer":[300,1],"encoding":"json"})"),
                      "a value is out of the range of its dtype");
  expect_refused_body(Kind::kBadResponse, array_text("[2]", "int8", R"({"buffer":["x",1],"encoding":"json"})"),
                      "result: y");
  expect_refused_body(Kind::kBadResponse,
                      array_text("[2]", "int8", R"({"buffer":"AQI=","encoding":"base64","compression":"lz4"})"),
                      "result: y (base64)");
  expect_refused_body(Kind::kBadResponse,
                      array_text("[2]", "int8", R"({"buffer":"AQI=","encoding":"base64","compression":"gzip"})"),
                      "result: y");
  expect_refused_body(Kind::kBadResponse, array_text("[2]", "int8", R"({"buffer":"AQI=","encoding":"msgpack"})"),
                      "result: y");
}

TEST(BadValuesTest, NeedsTheFolderToReadFiles) {
  expect_refused_body(Kind::kInvalidArgument, array_text("[2]", "int8", R"({"buffer":"a.bin:0","encoding":"binref"})"),
                      "output_path must be set to decode a json+binref response");
}

TEST(BadValuesTest, ReadsFilesOfTheFolderAlone) {
  const TempFolder outside;
  outside.write("secret.bin", "12");
  const TempFolder folder;
  folder.write("run_1/a.bin", "12");
  std::filesystem::create_symlink(outside.path() / "secret.bin", folder.path() / "link.bin");
  ClientOptions options;
  options.server_output_path = folder.path();
  const auto body_naming = [](const std::string& reference) {
    return array_text("[2]", "uint8", R"({"buffer":")" + reference + R"(","encoding":"binref"})");
  };
  EXPECT_EQ(apply_answered(body_naming("run_1/a.bin:0"), options).object()["y"].array().values<std::uint8_t>()[1], '2');
  for (const std::string& reference :
       {std::string("../x.bin:0"), (outside.path() / "secret.bin").string() + ":0", std::string("link.bin:0"),
        std::string("run_1/none.bin:0"), std::string("run_1/a.bin:1"), std::string("run_1:0"),
        std::string("run_1/a.bin:99999999999999999999")}) {
    expect_refused_body(Kind::kBadResponse, body_naming(reference), "result: y", options);
  }
}

TEST(BadValuesTest, SaysThatAFolderIsNotThere) {
  ClientOptions options;
  options.server_output_path = "/no/such/folder";
  expect_error(Kind::kInvalidArgument, "server_output_path cannot be used",
               [&] { static_cast<void>(Tesseract::from_url("h", options)); });
  options = {};
  options.server_input_path = "/no/such/folder";
  expect_error(Kind::kInvalidArgument, "server_input_path cannot be used",
               [&] { static_cast<void>(Tesseract::from_url("h", options)); });
}

TEST(BadDocumentTest, RefusesWhatIsNoDocument) {
  for (const auto& [document, part] :
       {std::pair("<html>", "it is no JSON"), std::pair("[]", "it has no paths"), std::pair("{}", "it has no paths"),
        std::pair(R"({"paths":[]})", "it has no paths"),
        std::pair(R"({"paths":{},"x-supported-compressions":"lz4"})", "x-supported-compressions is not a list")}) {
    ScriptedServer server(ScriptedServer::answering(ok_response("{}")));
    server.set_document(document);
    expect_error(Kind::kBadResponse, part,
                 [&server] { static_cast<void>(Tesseract::from_url(server.url()).apply({})); });
  }
}

TEST(BadDocumentTest, RefusesADocumentWithoutSchemas) {
  for (
      const char* const document :
      {R"({"paths":{}})", R"({"paths":{},"components":{"schemas":{"ApplyInputSchema":{},"ApplyOutputSchema":1}}})",
       R"({"paths":{},"components":{"schemas":{"ApplyInputSchema":{"$ref":"#/components/schemas/ApplyInputSchema"}}}})"}) {
    ScriptedServer server(ScriptedServer::answering(ok_response("{}")));
    server.set_document(document);
    expect_error(Kind::kBadResponse, "is not that of a Tesseract",
                 [&server] { static_cast<void>(Tesseract::from_url(server.url()).input_schema()); });
  }
}

TEST(BadDocumentTest, IsAskedForAgainAfterAFailure) {
  ScriptedServer server({ScriptedServer::answering_once(testing::response_of("503 Busy", "busy")),
                         ScriptedServer::answering(ok_response(testing::small_document()))});
  server.set_document("");
  const Tesseract client = Tesseract::from_url(server.url());
  expect_error(Kind::kStatus, "Error 503 from Tesseract: busy",
               [&] { static_cast<void>(client.available_endpoints()); });
  EXPECT_THAT(client.available_endpoints(), ::testing::ElementsAre("apply", "jacobian", "health", "test"));
}

}  // namespace
}  // namespace tessera
