#include "service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "service_client.h"
#include "support/manual_clock.h"
#include "support/recording_logger.h"
#include "support/temp_folder.h"
#include "tessera/ipc/gpu_system.h"

namespace tessera {
namespace {

using testing::Answer;
using testing::get;
using testing::post;
using Json = nlohmann::json;
using Definitions = std::vector<std::shared_ptr<const TesseractDefinition>>;

constexpr const char* kCall = R"({"inputs":{"x":[1.0,2.0]}})";

/// Hands its array back, after doing what `act` says.
std::shared_ptr<const TesseractDefinition> make_probe(const std::string& name) {
  auto definition = std::make_shared<TesseractDefinition>(name);
  definition->version("1.5").describe("Does what it is told & <more>.");
  definition->inputs(Schema("InputSchema")
                         .field("x", array(DType::kFloat64, {kFreeAxis}), "Numbers.")
                         .field("act", text(), "What to do.", ""));
  definition->outputs(Schema("OutputSchema").field("x", array(DType::kFloat64, {kFreeAxis})));
  definition->apply([](const Object& inputs, Context& context) -> Object {
    const std::string act = inputs["act"].text();
    if (act == "raise") {
      throw std::invalid_argument("<boom> & more");
    }
    if (act == "teapot") {
      throw EndpointError("HTTPException", "no \"coffee\"", 418);
    }
    if (act == "unprocessable") {
      throw EndpointError("HTTPException", "not today", 422);
    }
    if (act == "wrong") {
      return Object{{"x", 1.0}};
    }
    if (act == "print") {
      std::cout << "printed\n";
    }
    if (act == "log") {
      context.log("logged");
    }
    if (act == "gpus") {
      throw EndpointError("HTTPException", context.gpus()->problem().value().sentence, 418);
    }
    return Object{{"x", inputs["x"]}};
  });
  return definition;
}

std::string call_of(const std::string& act) {
  return R"({"inputs":{"x":[1.0,2.0],"act":")" + act + R"("}})";
}

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() {
    options_.config.input_path = input_.path();
    options_.config.output_path = output_.path();
  }

  Service& service() {
    if (!service_) {
      Result<std::unique_ptr<Service>> made = make({make_probe("probe")});
      service_ = std::move(made).value();
    }
    return *service_;
  }

  Result<std::unique_ptr<Service>> make(Definitions definitions) {
    return Service::make(options_, std::move(definitions), logger_, clock_);
  }

  [[nodiscard]] bool left_nothing() const { return std::filesystem::is_empty(output_.path()); }

  testing::TempFolder input_;
  testing::TempFolder output_;
  testing::RecordingLogger logger_;
  testing::ManualClock clock_;
  DaemonOptions options_;
  std::unique_ptr<Service> service_;
};

TEST_F(ServiceTest, AnswersHealthWithoutAWorker) {
  const Answer answer = get(service(), "/health", {{"accept", "application/json+nonsense"}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"status":"ok"})");
  EXPECT_FALSE(answer.was_run);
}

TEST_F(ServiceTest, ServesOneTesseractUnderItsNameToo) {
  EXPECT_EQ(post(service(), "/apply", kCall).body, post(service(), "/probe/apply", kCall).body);
  EXPECT_EQ(get(service(), "/openapi.json").body, get(service(), "/probe/openapi.json").body);
}

TEST_F(ServiceTest, RefusesUnknownRoutesAndMethods) {
  const Answer unknown = get(service(), "/probe");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.body, R"({"detail":"Not Found"})");
  const Answer other = get(service(), "/apply");
  EXPECT_EQ(other.status, 405);
  EXPECT_EQ(other.header("Allow"), "POST");
  EXPECT_EQ(other.body, R"({"detail":"Method Not Allowed"})");
}

TEST_F(ServiceTest, RefusesUnreadWhatLeadsNowhere) {
  Request head;
  head.method = "POST";
  head.target = "/nope";
  const std::optional<Response> refusal = service().refuse_unread(head);
  EXPECT_EQ(refusal ? refusal->status : 0, 404);
  head.target = "/apply?run_id=1";
  EXPECT_FALSE(service().refuse_unread(head).has_value());
}

TEST_F(ServiceTest, RedirectsATrailingSlash) {
  const Answer answer = post(service(), "/apply/?run_id=a%20b", kCall, {{"host", "solver:8000"}});
  EXPECT_EQ(answer.status, 307);
  EXPECT_EQ(answer.header("Location"), "http://solver:8000/apply?run_id=a%20b");
  EXPECT_EQ(answer.body, "");
}

TEST_F(ServiceTest, GivesHeadWithoutABody) {
  const Answer answer = testing::send(service(), {"HEAD", "/openapi.json", {}, ""});
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.without_body);
  EXPECT_EQ(answer.body.size(), get(service(), "/openapi.json").body.size());
}

TEST_F(ServiceTest, LeavesNothingBehindACallThatSaysNothing) {
  EXPECT_EQ(post(service(), "/apply", kCall).status, 200);
  EXPECT_TRUE(left_nothing());
}

TEST_F(ServiceTest, LeavesNothingBehindARefusedCall) {
  EXPECT_EQ(post(service(), "/apply?run_id=a", "{").status, 422);
  EXPECT_EQ(post(service(), "/apply?run_id=a", kCall, {{"accept", "text/plain"}}).status, 406);
  EXPECT_EQ(post(service(), "/apply?run_id=", kCall).status, 422);
  EXPECT_TRUE(left_nothing());
}

TEST_F(ServiceTest, RefusesABodyThatIsNestedTooDeep) {
  options_.config.debug = true;
  options_.nesting_depth = 4;
  // The body, its inputs, x, and two lists in it.
  const std::string deep = R"({"inputs":{"x":[[1.0]],"act":""}})";
  const Answer answer = post(service(), "/apply", R"({"inputs":{"x":[[[1.0]]]}})");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body, R"({"detail":"There was an error parsing the body"})");
  EXPECT_EQ(post(service(), "/apply", deep).status, 422) << "deep enough for this: " << deep;
  EXPECT_EQ(post(service(), "/test", R"({"endpoint":"apply","payload":)" + deep + "}").status, 400);
}

TEST_F(ServiceTest, ReportsTheBodyBeforeTheRunIdBeforeAccept) {
  const testing::Headers bad_accept = {{"accept", "text/plain"}};
  const Json body = Json::parse(post(service(), "/apply?run_id=a/../..", "{}", bad_accept).body);
  EXPECT_EQ(body["detail"][0]["loc"], Json({"body", "inputs"}));
  const Json query = Json::parse(post(service(), "/apply?run_id=a/../..", kCall, bad_accept).body);
  EXPECT_EQ(query["detail"][0]["type"], "value_error");
  EXPECT_EQ(query["detail"][0]["loc"], Json({"query", "run_id"}));
  EXPECT_EQ(query["detail"][0]["input"], "a/../..");
}

TEST_F(ServiceTest, MakesTheFolderOfARunIdBeforeTheEndpointRuns) {
  EXPECT_EQ(post(service(), "/apply?run_id=my+run", kCall).status, 200);
  EXPECT_EQ(output_.read("run_my run/logs/tesseract.log"), "");
  EXPECT_TRUE(output_.has("run_my run/logs/artifacts"));
}

TEST_F(ServiceTest, RefusesARunIdThatIsALinkOutOfTheOutputPath) {
  const testing::TempFolder elsewhere;
  std::filesystem::create_directory_symlink(elsewhere.path(), output_.path() / "run_link");
  const Answer answer = post(service(), "/apply?run_id=link", kCall);
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(Json::parse(answer.body)["detail"][0]["loc"], Json({"query", "run_id"}));
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
}

TEST_F(ServiceTest, RefusesARunIdWhoseFilesAreInTheWayOfOthers) {
  const std::string array = "0b5b1c3e-6a0f-4b1c-8d59-3b8f0e6f7a11.bin";
  output_.write("run_a/" + array, "an array of a run");
  std::filesystem::create_directories(output_.path() / "run_b/logs/metrics.csv");
  for (const std::string& id : {"a/" + array, "a/" + array + "/x", std::string("b")}) {
    const Answer answer = post(service(), "/apply?run_id=" + id, kCall);
    ASSERT_EQ(answer.status, 422) << id;
    const Json item = Json::parse(answer.body)["detail"][0];
    EXPECT_EQ(item["type"], "value_error");
    EXPECT_EQ(item["loc"], Json({"query", "run_id"}));
    EXPECT_NE(item["msg"].get<std::string>().find("is in the way"), std::string::npos) << item["msg"];
    EXPECT_EQ(answer.body.find(output_.path().string()), std::string::npos);
  }
}

TEST_F(ServiceTest, RefusesARunIdInTheLogsOfARun) {
  for (const char* id : {"z/logs", "z/logs/artifacts", "z/logs/parameters.json"}) {
    const Answer answer = post(service(), std::string("/apply?run_id=") + id, kCall);
    ASSERT_EQ(answer.status, 422) << id;
    const Json item = Json::parse(answer.body)["detail"][0];
    EXPECT_EQ(item["type"], "value_error");
    EXPECT_EQ(item["loc"], Json({"query", "run_id"}));
    EXPECT_EQ(item["input"], id);
    EXPECT_NE(item["msg"].get<std::string>().find("logs of a run"), std::string::npos) << item["msg"];
  }
  EXPECT_TRUE(left_nothing());
}

TEST_F(ServiceTest, CapturesOutputWithOneWorker) {
  EXPECT_EQ(post(service(), "/apply?run_id=p", call_of("print")).status, 200);
  EXPECT_EQ(output_.read("run_p/logs/tesseract.log"), "printed\n");
}

TEST_F(ServiceTest, LogsThroughTheContextWithSeveralWorkers) {
  options_.workers = 2;
  EXPECT_EQ(post(service(), "/apply?run_id=p", call_of("print")).status, 200);
  EXPECT_EQ(output_.read("run_p/logs/tesseract.log"), "");
  EXPECT_EQ(post(service(), "/apply?run_id=p", call_of("log")).status, 200);
  EXPECT_EQ(output_.read("run_p/logs/tesseract.log"), "logged\n");
}

TEST_F(ServiceTest, HidesTheTextOfAFailure) {
  logger_.expect("endpoint failed");
  const Answer answer = post(service(), "/apply", call_of("raise"));
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(answer.body, "Internal Server Error");
  EXPECT_TRUE(logger_.has("kind=ValueError text=<boom> & more"));
}

TEST_F(ServiceTest, ShowsTheTextOfAFailureInDebug) {
  logger_.expect("endpoint failed");
  options_.config.debug = true;
  const std::string text = post(service(), "/apply", call_of("raise")).body;
  EXPECT_TRUE(text.starts_with("Traceback (most recent call last):\n"));
  EXPECT_TRUE(text.ends_with("\nValueError: <boom> & more"));
  const Answer page = post(service(), "/apply", call_of("raise"), {{"accept", "text/html"}});
  EXPECT_EQ(page.status, 406) << "an endpoint does not run for a client that takes no encoding";
  const Answer html = post(service(), "/apply", call_of("raise"), {{"accept", "text/html, */*"}});
  EXPECT_EQ(html.content_type, "text/html; charset=utf-8");
  EXPECT_NE(html.body.find("ValueError: &lt;boom&gt; &amp; more"), std::string::npos);
  EXPECT_EQ(html.body.find("<boom>"), std::string::npos);
}

TEST_F(ServiceTest, AnswersWithTheStatusThatAnEndpointAsksFor) {
  const Answer teapot = post(service(), "/apply", call_of("teapot"));
  EXPECT_EQ(teapot.status, 418);
  EXPECT_EQ(teapot.body, R"({"detail":"no \"coffee\""})");
}

TEST_F(ServiceTest, GivesA422OfAnEndpointTheFormThatClientsRead) {
  const Answer answer = post(service(), "/apply", call_of("unprocessable"));
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(Json::parse(answer.body)["detail"][0]["msg"], "Value error, not today");
}

TEST_F(ServiceTest, LeavesNoArraysBehindAFailedCall) {
  logger_.expect("endpoint returned");
  const Answer answer = post(service(), "/apply?run_id=f", call_of("wrong"), {{"accept", "application/json+binref"}});
  EXPECT_EQ(answer.status, 500);
  for (const auto& entry : std::filesystem::directory_iterator(output_.path() / "run_f")) {
    EXPECT_EQ(entry.path().filename(), "logs");
  }
}

TEST_F(ServiceTest, FailsACallWhoseFilesCannotBeWritten) {
  logger_.expect("kind=OSError");
  options_.config.output_path = output_.path() / "out";
  (void)service();
  std::filesystem::remove(output_.path() / "out");
  output_.write("out", "a file where the folder should be");
  const Answer answer = post(service(), "/apply?run_id=f", kCall, {{"accept", "application/json+binref"}});
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(output_.read("out"), "a file where the folder should be");
}

TEST_F(ServiceTest, CountsEveryAnswer) {
  (void)post(service(), "/apply", kCall);
  (void)post(service(), "/probe/apply", "{");
  (void)get(service(), "/nope");
  RequestReport refused;
  refused.status = 413;
  service().answering(refused);
  const Answer metrics = get(service(), "/metrics");
  EXPECT_EQ(metrics.content_type, "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line :
       {R"({tesseract="probe",endpoint="apply",status="200"} 1)",
        R"({tesseract="probe",endpoint="apply",status="422"} 1)", R"({tesseract="",endpoint="unknown",status="404"} 1)",
        R"({tesseract="",endpoint="connection",status="413"} 1)"}) {
    EXPECT_NE(metrics.body.find(line), std::string::npos) << line;
  }
}

TEST_F(ServiceTest, LogsALineForEachRequestAtDebug) {
  (void)post(service(), "/apply", kCall);
  EXPECT_TRUE(
      logger_.has("request answered id=id-of-the-test method=POST target=/apply tesseract=probe endpoint=apply "
                  "status=200 limit=none"));
  std::string keys;
  const auto lines = logger_.lines();
  for (const std::string& field : lines.back().fields) {
    keys += field.substr(0, field.find('=')) + " ";
  }
  EXPECT_EQ(keys,
            "id method target tesseract endpoint status limit peer received_bytes sent_bytes receive_us decode_us "
            "wait_us compute_us encode_us send_us whole_us ");
}

TEST_F(ServiceTest, NamesTheRequestInEachLineThatOneIsTheReasonOf) {
  logger_.expect("endpoint failed");
  logger_.expect("endpoint returned what its schema does not allow");
  options_.config.debug = true;
  (void)service();
  const std::size_t before = logger_.lines().size();
  for (const char* act : {"raise", "teapot", "wrong", "print", "log"}) {
    (void)post(service(), "/apply", call_of(act));
  }
  (void)post(service(), "/test",
             R"({"endpoint":"apply","payload":)" + call_of("log") + R"(,"expected_outputs":{"x":[1.0,2.0]}})");
  output_.write("run_f", "a file where the folder should be");
  (void)post(service(), "/apply", kCall, {{"accept", "application/json+binref"}});
  (void)post(service(), "/apply?run_id=f", kCall);
  const auto lines = logger_.lines();
  EXPECT_GE(lines.size(), before + 8 + 4);
  for (std::size_t i = before; i < lines.size(); ++i) {
    EXPECT_THAT(lines[i].fields, ::testing::Contains("id=id-of-the-test")) << lines[i].message;
  }
}

TEST_F(ServiceTest, CountsArraysByTheEncodingThatTheyTravelIn) {
  const std::string base64 = R"({"inputs":{"x":{"object_type":"array","shape":[2],"dtype":"float64","data":)"
                             R"({"buffer":"AAAAAAAA8D8AAAAAAAAAQA==","encoding":"base64"}}}})";
  (void)post(service(), "/apply", kCall, {{"accept", "application/json+base64"}});
  (void)post(service(), "/apply", base64);
  (void)post(service(), "/apply", base64, {{"accept", "application/json+base64; compression=lz4"}});
  const std::string text = get(service(), "/metrics").body;
  for (const char* line : {R"(tessera_array_received_bytes_total{encoding="json"} 16)",
                           R"(tessera_array_received_bytes_total{encoding="base64"} 32)",
                           R"(tessera_array_sent_bytes_total{encoding="json"} 16)",
                           R"(tessera_array_sent_bytes_total{encoding="base64"} 16)",
                           R"(tessera_array_sent_bytes_total{encoding="base64+lz4"} 16)"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
  }
}

TEST_F(ServiceTest, NamesTheLimitsThatARequestHits) {
  options_.nesting_depth = 10;
  options_.array_bytes = 100;
  const std::string deep(20, '[');
  EXPECT_EQ(post(service(), "/apply", deep).limit, Limit::kNestingDepth);
  std::string numbers = "0";
  for (int i = 0; i < 100; ++i) {
    numbers += ",0";
  }
  EXPECT_EQ(post(service(), "/apply", R"({"inputs":{"x":[)" + numbers + "]}}").limit, Limit::kArrayBytes);
  EXPECT_EQ(post(service(), "/apply", "{").limit, Limit::kNone);
  EXPECT_EQ(post(service(), "/apply", kCall).limit, Limit::kNone);
  const std::string text = get(service(), "/metrics").body;
  EXPECT_NE(text.find(R"(tessera_limit_hits_total{limit="nesting_depth"} 1)"), std::string::npos);
  EXPECT_NE(text.find(R"(tessera_limit_hits_total{limit="array_bytes"} 1)"), std::string::npos);
}

TEST_F(ServiceTest, RemovesOldRunsWhenAsked) {
  options_.keep_runs = std::chrono::hours(1);
  (void)post(service(), "/apply?run_id=old", kCall);
  service().remove_old_runs();
  EXPECT_TRUE(output_.has("run_old"));
  clock_.advance(std::chrono::hours(24 * 365 * 200));
  service().remove_old_runs();
  EXPECT_FALSE(output_.has("run_old"));
}

TEST_F(ServiceTest, RemovesOldRunsWhateverTheIdsThatClientsChose) {
  options_.keep_runs = std::chrono::hours(1);
  for (const char* id : {"esc/logs", "plain", "plain/logs/artifacts", "logs", "logs/artifacts", "plain/artifacts/x"}) {
    (void)post(service(), std::string("/apply?run_id=") + id, kCall);
  }
  EXPECT_TRUE(output_.has("run_plain"));
  clock_.advance(std::chrono::hours(24 * 365 * 200));
  service().remove_old_runs();
  EXPECT_TRUE(left_nothing());
}

TEST_F(ServiceTest, OffersTestInDebugOnly) {
  const std::string spec =
      R"({"endpoint":"apply","payload":)" + call_of("raise") + R"(,"expected_exception":"ValueError"})";
  EXPECT_EQ(post(service(), "/test", spec).status, 404);
  options_.config.debug = true;
  service_.reset();
  EXPECT_EQ(post(service(), "/test", spec).body, R"({"status":"passed","message":"","endpoint":"apply"})");
  EXPECT_EQ(post(service(), "/test", R"({"endpoint":"apply"})").status, 422);
}

TEST_F(ServiceTest, GivesSeveralTesseractsAFolderEach) {
  Result<std::unique_ptr<Service>> made = make({make_probe("a"), make_probe("b")});
  ASSERT_TRUE(made.has_value());
  Service& both = **made;
  EXPECT_EQ(post(both, "/a/apply?run_id=1", kCall).status, 200);
  EXPECT_EQ(post(both, "/apply", kCall).status, 404);
  EXPECT_EQ(get(both, "/health").status, 200);
  EXPECT_TRUE(output_.has("a/run_1"));
  EXPECT_TRUE(output_.has("b"));
  EXPECT_FALSE(input_.has("a"));
}

TEST_F(ServiceTest, RefusesToStartWithWhatCannotBe) {
  EXPECT_FALSE(make({}).has_value());
  EXPECT_FALSE(make({make_probe("a"), make_probe("a")}).has_value());
  EXPECT_FALSE(make({make_probe("health")}).has_value());
  options_.config.name = "one name";
  EXPECT_TRUE(make({make_probe("a")}).has_value());
  EXPECT_FALSE(make({make_probe("a"), make_probe("b")}).has_value());
}

TEST_F(ServiceTest, RefusesToStartWithATransportThatItDoesNotHave) {
  options_.config.gpu_transport = "nixl";
  const Result<std::unique_ptr<Service>> made = make({make_probe("a")});
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(made.error().message().find("gpu_transport='nixl'"), std::string::npos);
}

TEST_F(ServiceTest, OpensTheGpusForACallAfterTheOptionsItWasMadeWithAreGone) {
  auto options = std::make_unique<DaemonOptions>(options_);
  options->cuda_library = "/a/folder/that/nobody/has/libcuda.so.1";
  const std::string library = options->cuda_library;
  Result<std::unique_ptr<Service>> made = Service::make(*options, {make_probe("probe")}, logger_, clock_);
  ASSERT_TRUE(made.has_value());
  options.reset();
  const Answer answer = post(**made, "/apply", call_of("gpus"));
  EXPECT_EQ(answer.status, 418);
  EXPECT_NE(answer.body.find(library), std::string::npos) << answer.body;
}

TEST_F(ServiceTest, RefusesAnOutputPathThatIsAFile) {
  for (const std::filesystem::path& path : {output_.write("file", "text"), std::filesystem::path("/dev/null")}) {
    options_.config.output_path = path;
    const Result<std::unique_ptr<Service>> made = make({make_probe("a")});
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().message(), "cannot write to '" + path.string() + "': it is not a folder");
  }
}

TEST_F(ServiceTest, ReadsInputsFromAFolderThatNeedNotBeThere) {
  options_.config.input_path = input_.path() / "later";
  logger_.expect("the input folder is not there");
  const std::string call = R"({"inputs":{"x":{"object_type":"array","shape":[1],"dtype":"float64","data":)"
                           R"({"buffer":"d.bin","encoding":"binref"}}}})";
  const Answer refusal = post(service(), "/apply", call);
  EXPECT_EQ(refusal.status, 422);
  EXPECT_NE(refusal.body.find("no such file: 'd.bin'"), std::string::npos);
  EXPECT_EQ(refusal.body.find(options_.config.input_path.string()), std::string::npos)
      << "where that is, is ours alone";
  EXPECT_FALSE(input_.has("later"));
  input_.write("later/d.bin", std::string(8, '\0'));
  EXPECT_EQ(post(service(), "/apply", call).status, 200);
}

TEST_F(ServiceTest, WritesAgainAfterItsOutputFolderWasRemoved) {
  (void)service();
  std::filesystem::remove_all(output_.path());
  EXPECT_EQ(post(service(), "/apply?run_id=1", kCall, {{"accept", "application/json+binref"}}).status, 200);
  EXPECT_TRUE(output_.has("run_1/logs/tesseract.log"));
}

TEST_F(ServiceTest, SendsNothingButUtf8) {
  const Answer answer = testing::send(service(), {"POST", "/apply", {{"content-type", "text/plain"}}, "a\xff"});
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(Json::parse(answer.body)["detail"][0]["input"], "a\uFFFD");
}

// A large array leaves the body while it arrives; nobody can tell.
TEST_F(ServiceTest, AnswersAFoldedBodyAsItAnswersTheWhole) {
  const auto array_of = [](std::string_view dtype, std::string_view more) {
    const std::string buffer(std::size_t{4} * 24 * 1024 / 3 * 4, 'A');
    return R"({"object_type":"array","shape":[12288],"dtype":")" + std::string(dtype) + R"(","data":{"buffer":")" +
           buffer + R"(","encoding":"base64")" + std::string(more) + "}}";
  };
  const std::string good = array_of("float64", "");
  const std::string bodies[] = {
      R"({"inputs":{"x":)" + good + "}}",
      R"({"inputs":{"x":)" + good + R"(,"named":{"a":)" + good + "}}}",
      R"({"inputs":{"x":)" + good + R"(,"x":)" + good + "}}",
      R"({"inputs":{"x":)" + good + R"(},"ignored":)" + good + "}",
      R"({"inputs":{"x":)" + good + R"(,"unknown":)" + good + "}}",
      R"({"inputs":{"x":)" + good + R"(,"grid":)" + good + "}}",
      R"({"inputs":{"x":)" + good + R"(,"steps":-1}})",
      R"({"inputs":{"x":)" + good + R"(,"label":)" + good + "}}",
      R"({"inputs":{"x":)" + good + R"(,"layers":[{"weights":)" + good + R"(,"tag":5}]}})",
      R"({"inputs":{"x":)" + good + "}",
      R"({"inputs":[)" + good + "]}",
      R"({"x":)" + good + "}",
      R"({"inputs":{"x":)" + array_of("float64", R"(,"compression":"lz4")") + "}}",
      R"({"inputs":{"x":)" + array_of("float64", R"(,"buffer":"AAAA")") + "}}",
      R"({"inputs":{"x":)" + array_of("int64", "") + "}}",
  };
  options_.config.debug = true;
  const std::unique_ptr<Service> mixer = make({testing::make_mixer()}).value();
  int accepted = 0;
  for (const std::string& body : bodies) {
    for (const std::string_view target : {"/apply", "/abstract_eval", "/jacobian", "/test"}) {
      testing::OwnedRequest request{"POST", std::string(target), {{"content-type", "application/json"}}, body};
      const Answer whole = testing::send(*mixer, request);
      request.piece_bytes = 5000;
      const Answer folded = testing::send(*mixer, request);
      EXPECT_EQ(folded.status, whole.status) << target;
      EXPECT_TRUE(folded.body == whole.body) << target << ' ' << folded.body.substr(0, 300);
      accepted += whole.status == 200 ? 1 : 0;
    }
  }
  EXPECT_GE(accepted, 8);
}

}  // namespace
}  // namespace tessera
