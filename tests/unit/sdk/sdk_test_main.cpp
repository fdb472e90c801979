// The tests, or with an argument one of the other processes that some need.
#include <gtest/gtest.h>

#include <string_view>

#include "other_process.h"
#include "support/stand_in.h"

int main(int count, char** arguments) {
  if (count == 2 && !std::string_view(arguments[1]).starts_with("--")) {
    return tessera::testing::run_other_process(arguments[1]);
  }
  ::testing::InitGoogleTest(&count, arguments);
  const tessera::testing::StandInMachine machine;
  return RUN_ALL_TESTS();
}
