// The tests, or with the argument `agent` the other process of those that need one.
#include <gtest/gtest.h>

#include <string_view>

#include "ipc_agent.h"
#include "support/stand_in.h"

int main(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]) == "agent") {
    return tessera::run_ipc_agent();
  }
  ::testing::InitGoogleTest(&count, arguments);
  const tessera::testing::StandInMachine machine;
  return RUN_ALL_TESTS();
}
