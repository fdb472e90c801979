// Asks a driver whether it follows the rules that tessera relies on: the one that the loader finds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string_view>

#include "driver_table.h"
#include "peer.h"

namespace {

namespace suite = tessera::driver_conformance;

constexpr int kSkipped = 77;  // CTest knows it by SKIP_RETURN_CODE

int say_skipped(const std::string& reason) {
  std::cout << "SKIPPED: " << reason << '\n';
  return kSkipped;
}

bool has_option(int count, char** arguments, std::string_view name) {
  for (int index = 1; index < count; ++index) {
    if (name == arguments[index]) {
      return true;
    }
  }
  return false;
}

}  // namespace

int main(int argument_count, char** arguments) {
  std::string problem = suite::load_driver(suite::driver());
  if (has_option(argument_count, arguments, "--peer")) {
    return problem.empty() ? suite::run_peer(3) : 1;
  }
  if (!problem.empty()) {
    return say_skipped(problem);
  }
  bool is_stand_in = suite::driver().mutation != nullptr;
  if (has_option(argument_count, arguments, "--mutations")) {
    for (std::size_t index = 0; is_stand_in && suite::driver().mutation(index) != nullptr; ++index) {
      std::cout << suite::driver().mutation(index) << '\n';
    }
    return 0;
  }
  if (has_option(argument_count, arguments, "--real") && is_stand_in) {
    return say_skipped("the driver found is the stand-in");
  }
  testing::InitGoogleTest(&argument_count, arguments);
  if (suite::Code code = suite::driver().cuInit(0); code != 0) {
    return say_skipped("cuInit gives " + std::to_string(code));
  }
  return RUN_ALL_TESTS();
}
