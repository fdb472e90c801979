// What a service shows of itself: GET / and /docs.

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "service_client.h"
#include "support/manual_clock.h"
#include "support/recording_logger.h"
#include "support/temp_folder.h"

namespace tessera {
namespace {

using testing::Answer;
using testing::get;
using PageJson = nlohmann::json;

class PagesTest : public ::testing::Test {
 protected:
  struct Wishes {
    bool debug = false;
    std::string description = "Does what it is told & <more>.";
  };

  Service& service(const Wishes& wishes) {
    if (!service_) {
      auto definition = std::make_shared<TesseractDefinition>("probe");
      const Schema schema = Schema("InputSchema").field("x", array(DType::kFloat64, {kFreeAxis}), "Numbers.");
      definition->describe(wishes.description).inputs(schema).outputs(Schema("OutputSchema"));
      definition->apply([](const Object& /*inputs*/, Context& /*context*/) { return Object(); }, "Adds things.");
      DaemonOptions options;
      options.config.input_path = folder_.path();
      options.config.output_path = folder_.path();
      options.config.debug = wishes.debug;
      service_ = Service::make(options, {definition}, logger_, clock_).value();
    }
    return *service_;
  }

  /// The address in the example of a page.
  std::string example(const char* target, const testing::Headers& headers) {
    const std::string page = get(service({}), target, headers).body;
    const std::string mark = "<span id=\"url\">";
    const std::size_t begin = page.find(mark) + mark.size();
    return page.substr(begin, page.find("</span>", begin) - begin);
  }

 private:
  testing::TempFolder folder_;
  testing::RecordingLogger logger_;
  testing::ManualClock clock_;
  std::unique_ptr<Service> service_;
};

TEST_F(PagesTest, ListsWhatItServesForProgramsAndPeople) {
  const PageJson index = PageJson::parse(get(service({}), "/").body);
  EXPECT_EQ(index["tesseracts"][0]["name"], "probe");
  EXPECT_EQ(index["tesseracts"][0]["endpoints"], PageJson::array({"/probe/apply"}));
  const Answer page = get(service({}), "/", {{"accept", "text/html,*/*;q=0.8"}});
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("href=\"/probe/docs\""), std::string::npos);
  EXPECT_NE(page.body.find("&amp; &lt;more&gt;"), std::string::npos);
}

TEST_F(PagesTest, ShowsADocsPageThatNeedsNoNetwork) {
  const Answer page = get(service({}), "/docs");
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  for (const char* part : {"<title>probe - tessera</title>", "float64 array of shape (any)", "Numbers.", "openapi.json",
                           "{&quot;inputs&quot;:{&quot;x&quot;:[0.0,0.0]}}"}) {
    EXPECT_NE(page.body.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(page.body.find("src="), std::string::npos);
}

TEST_F(PagesTest, ShowsTheAddressThatAReaderUsedInTheExample) {
  EXPECT_EQ(example("/docs", {}), "http://127.0.0.1:8000");
  EXPECT_EQ(example("/docs", {{"host", "solver:9000"}}), "http://solver:9000");
  EXPECT_EQ(example("/probe/docs?a=/b", {{"host", "solver"}}), "http://solver/probe");
  EXPECT_EQ(example("/docs", {{"host", "<b>&'"}}), "http://&lt;b&gt;&amp;&#39;");
}

TEST_F(PagesTest, ListsTheTestEndpointWithDebug) {
  Service& debugged = service({.debug = true});
  EXPECT_EQ(PageJson::parse(get(debugged, "/").body)["tesseracts"][0]["endpoints"],
            PageJson::array({"/probe/apply", "/probe/test"}));
  EXPECT_NE(get(debugged, "/docs").body.find("POST test"), std::string::npos);
}

TEST_F(PagesTest, DescribesATesseractByItsApplyWhereItSaysNothingElse) {
  const PageJson index = PageJson::parse(get(service({.description = ""}), "/").body);
  EXPECT_EQ(index["tesseracts"][0]["description"], "Adds things.");
}

}  // namespace
}  // namespace tessera
