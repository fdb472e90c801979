#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "service_client.h"
#include "tessera/base/file.h"
#include "tessera/daemon/openapi.h"

namespace tessera {
namespace {

using Json = nlohmann::json;

TEST(GoldenOpenApiTest, EqualsTheRecordedDocumentOfTheMixer) {
  const auto path = std::filesystem::path(TESSERA_TESTS_DIR) / "vectors" / "schema" / "openapi.json";
  const Json wanted = Json::parse(*read_file(path, 1 << 24));
  RuntimeConfig config;
  config.name = "Tesseract";
  const Json document = Json::parse(openapi_document(*testing::make_mixer(), config));
  EXPECT_EQ(Json::diff(wanted, document), Json::array());
}

}  // namespace
}  // namespace tessera
