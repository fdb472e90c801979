// Where the parts of tessera lie around this program, in a build tree and in an installation alike.
#pragma once

#include <filesystem>

namespace tessera {

/// The folder of the public headers, so that <tessera/…> is found in it. Throws CommandError if it is not there.
[[nodiscard]] std::filesystem::path header_folder();
/// The folder of libtessera. Throws CommandError if it is not there.
[[nodiscard]] std::filesystem::path library_folder();

}  // namespace tessera
