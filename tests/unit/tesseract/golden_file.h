// The golden vectors of the repository.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace tessera::testing {

/// Reads one of the files of tests/vectors; throws if it is not there.
inline nlohmann::json golden(const std::string& name) {
  std::ifstream file(std::string(TESSERA_TESTS_DIR) + "/vectors/" + name);
  if (!file) {
    throw std::runtime_error("there is no golden file " + name);
  }
  return nlohmann::json::parse(file);
}

}  // namespace tessera::testing
