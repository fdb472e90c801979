#include "request_target.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(RequestTargetTest, SplitsPathAndQuery) {
  EXPECT_EQ(split_target("/apply?run_id=1?2").path, "/apply");
  EXPECT_EQ(split_target("/apply?run_id=1?2").query, "run_id=1?2");
  EXPECT_EQ(split_target("/apply").query, "");
  EXPECT_EQ(split_target("http://host:80/apply?x").path, "/apply");
  EXPECT_EQ(split_target("http://host").path, "/");
  EXPECT_EQ(split_target("HTTP://host/apply").path, "/apply");
  EXPECT_EQ(split_target("http://host?a=/b").path, "/");
  EXPECT_EQ(split_target("http://host?a=/b").query, "a=/b");
  EXPECT_EQ(split_target("/apply?").query, "");
}

TEST(RequestTargetTest, TakesPathsAndAbsoluteTargetsOfThisServer) {
  for (const char* target :
       {"/", "//apply", "/http://host/", "http://host", "HTTP://host:80/apply", "http://[::1]?x"}) {
    EXPECT_TRUE(is_request_target("GET", target)) << target;
  }
  for (const char* target : {"", "*", "host:80", "apply", "?x", "http:///apply", "http://", "http://:80/",
                             "http://user@host/", "https://host/", "http:/apply"}) {
    EXPECT_FALSE(is_request_target("GET", target)) << target;
  }
  EXPECT_TRUE(is_request_target("OPTIONS", "*"));
}

TEST(RequestTargetTest, FindsTheHostOfAnAbsoluteTarget) {
  EXPECT_EQ(host_of_target("http://host:80/apply"), "host:80");
  EXPECT_EQ(host_of_target("http://host?x"), "host");
  EXPECT_EQ(host_of_target("/apply"), std::nullopt);
}

TEST(RequestTargetTest, DecodesPercentTriplesAndLeavesTheRest) {
  EXPECT_EQ(percent_decoded("/%61pply%2Fx"), "/apply/x");
  EXPECT_EQ(percent_decoded("%c3%A4"), "\xc3\xa4");
  EXPECT_EQ(percent_decoded("%00"), std::string(1, '\0'));
  for (const char* plain : {"%", "%4", "%4x", "%%", "a+b", ""}) {
    EXPECT_EQ(percent_decoded(plain), plain);
  }
}

TEST(RequestTargetTest, FindsTheLastParameterOfAName) {
  EXPECT_EQ(find_parameter("run_id=a&run_id=b&x=c", "run_id"), "b");
  EXPECT_EQ(find_parameter("run_id=a+b%20c%26", "run_id"), "a b c&");
  EXPECT_EQ(find_parameter("run%5Fid=a", "run_id"), "a");
  EXPECT_EQ(find_parameter("run_id=a=b", "run_id"), "a=b");
  EXPECT_EQ(find_parameter("run_id", "run_id"), "");
  EXPECT_EQ(find_parameter("RUN_ID=a&&run_ids=b", "run_id"), std::nullopt);
}

TEST(RequestTargetTest, ReplacesWhatIsNotUtf8InParameters) {
  EXPECT_EQ(find_parameter("run_id=a%ffb", "run_id"), "a\uFFFDb");
  EXPECT_EQ(find_parameter("run_id=%c3%28", "run_id"), "\uFFFD(");
  EXPECT_EQ(find_parameter("run_id=%ed%a0%80", "run_id"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(find_parameter("run_id=a%f0%9f%98b", "run_id"), "a\uFFFDb");
  EXPECT_EQ(find_parameter("run_id=%c3%a4", "run_id"), "\u00e4");
}

}  // namespace
}  // namespace tessera
