#include "content_type.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(ContentTypeTest, TakesJsonAndItsSubtypes) {
  for (const char* type : {"application/json", "APPLICATION/JSON", " application/json ; charset=utf-8",
                           "application/vnd.solver+json", "application/+json"}) {
    EXPECT_TRUE(is_called_json(type)) << type;
  }
}

TEST(ContentTypeTest, RefusesEverythingElse) {
  EXPECT_FALSE(is_called_json(std::nullopt));
  for (const char* type : {"", "json", "text/json", "application/jsonp", "application/x/json",
                           "application/json, text/x", "application/xjson", "application/"}) {
    EXPECT_FALSE(is_called_json(type)) << type;
  }
}

}  // namespace
}  // namespace tessera
