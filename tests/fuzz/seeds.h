// Inputs to begin with, made from what is known to be right: the golden vectors, the examples, and our own encoders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::fuzzing {

/// The seeds of a target; none for a name that is no target. Throws if a file of the repository is not as expected.
[[nodiscard]] std::vector<std::string> seeds_of(std::string_view target);

}  // namespace tessera::fuzzing
