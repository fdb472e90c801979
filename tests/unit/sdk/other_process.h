// The other processes of the tests: clients that end without a word, and daemons with GPUs.
#pragma once

#include <string_view>

namespace tessera::testing {

/// Runs a role until its channel is closed; returns the exit status of the process. What a role is given it reads from
/// the environment:
///
///   return-from-main, call-exit   calls apply() of $TESSERA_TEST_URL once, says "called", and ends so
///   serve                         serves $TESSERA_TEST_MODULES, with the GPUs of the stand-in driver -> its port
[[nodiscard]] int run_other_process(std::string_view role);

}  // namespace tessera::testing
