// Whether a file can be handed to the loader, which trusts what it is given.
#pragma once

#include <filesystem>

#include "tessera/base/result.h"

namespace tessera {

/// Whether a file is a whole shared library for this machine. The loader maps what the headers state; where the file
/// has been cut, touching that is a SIGBUS. Errors: kInvalidArgument, naming the file; of the system.
[[nodiscard]] Status check_module_file(const std::filesystem::path& path);

}  // namespace tessera
