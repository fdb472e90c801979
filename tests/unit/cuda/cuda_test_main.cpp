// The tests, or with the argument `load` a process that says how loading the driver goes under its environment.
#include <gtest/gtest.h>

#include <iostream>
#include <string_view>
#include <variant>

#include "support/child_process.h"
#include "support/stand_in.h"
#include "tessera/cuda/driver.h"

namespace tessera {
namespace {

int load() {
  testing::LineChannel channel(testing::ChildProcess::kChildDescriptor);
  const auto loaded = Driver::load(testing::stand_in_path());
  const auto* const unavailable = std::get_if<DriverUnavailable>(&loaded);
  channel.write(unavailable == nullptr ? "loaded" : std::string(name_of(unavailable->problem)));
  channel.write(unavailable == nullptr ? "" : unavailable->sentence);
  return 0;
}

}  // namespace
}  // namespace tessera

int main(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]) == "load") {
    return tessera::load();
  }
  ::testing::InitGoogleTest(&count, arguments);
  const tessera::testing::StandInMachine machine;
  return RUN_ALL_TESTS();
}
