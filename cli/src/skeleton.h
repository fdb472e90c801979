// The files of a new Tesseract, with its name in them.
#pragma once

#include <string>

namespace tessera {

/// The C++ file: a Tesseract that works, with comments that say what to change.
[[nodiscard]] std::string skeleton_source(const std::string& name);
/// A payload for its apply.
[[nodiscard]] std::string skeleton_inputs();
/// How to build, run and serve it.
[[nodiscard]] std::string skeleton_readme(const std::string& name);

}  // namespace tessera
