// What `tessera probe` prints.
#pragma once

#include <string>

#include "probe.h"

namespace tessera {

/// A table for people, ending with a line of advice.
[[nodiscard]] std::string text_of(const ProbeResult& result);
/// The same for programs: one object, in one line.
[[nodiscard]] std::string json_of(const ProbeResult& result);

}  // namespace tessera
