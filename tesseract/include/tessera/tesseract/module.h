// Tesseracts in shared libraries: the one symbol that a module exports, and how it is loaded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/result.h"
#include "tessera/tesseract/definition.h"
#include "tessera/tesseract/headers_hash.h"  // generated: TESSERA_HEADERS_HASH

/// What a module exports under the name `tessera_module`. The first two members never change. Constant; its
/// texts live as long as the module is loaded.
struct TesseraModule {
  std::uint64_t magic;          ///< kModuleMagic
  std::uint32_t abi;            ///< kModuleAbi
  const char* headers_hash;     ///< of the public headers that the module was compiled with
  const char* compiler;         ///< compiler and standard library, as kModuleCompiler
  const char* tessera_version;  ///< e.g. "0.1.0"
  /// Makes the definition, owned by the caller; may throw.
  tessera::TesseractDefinition* (*make)();
};

namespace tessera {

inline constexpr std::uint64_t kModuleMagic = 0x6172657373657401;  // "\1tessera"
inline constexpr std::uint32_t kModuleAbi = 1;                     ///< of the layout of TesseraModule

#define TESSERA_STRINGIFY_INNER(x) #x
#define TESSERA_STRINGIFY(x) TESSERA_STRINGIFY_INNER(x)
/// Compiler, its version, and that of libstdc++: must be equal in module and program.
#if defined(__clang__)
inline constexpr const char* kModuleCompiler =
    "clang " __clang_version__ " libstdc++ " TESSERA_STRINGIFY(_GLIBCXX_RELEASE);
#else
inline constexpr const char* kModuleCompiler = "g++ " __VERSION__ " libstdc++ " TESSERA_STRINGIFY(_GLIBCXX_RELEASE);
#endif

/// Loads a module and makes its Tesseract (which runs the author's code), which keeps the module loaded while it lives.
/// Errors: kNotFound; kInvalidArgument if it is no module, was built for another tessera (both versions in the text),
/// what it states is wrong, or its code throws. Not thread-safe (dlopen); call it at start.
[[nodiscard]] Result<std::shared_ptr<const TesseractDefinition>> load_module(const std::filesystem::path& path);

/// Where modules are looked for by name: each folder of $TESSERA_PATH, then `../lib/tessera` beside the program. They
/// need not exist. Reads the environment, as the two below do: call them at start.
[[nodiscard]] std::vector<std::filesystem::path> module_folders();
/// Finds the file of a Tesseract by name (`<folder>/<name>.so`), or takes a path (anything with a slash) as it is; a
/// path may be a folder that holds `<name>.so` of its own name. The current folder is never searched.
/// Errors: kNotFound, naming the folders that were searched; kInvalidArgument for a source.
[[nodiscard]] Result<std::filesystem::path> find_module(std::string_view name_or_path);
/// The modules of all those folders, sorted by name; of several with one name the first that was found.
[[nodiscard]] std::vector<std::filesystem::path> list_modules();

}  // namespace tessera

/// States the Tesseract of a module: `TESSERA_MODULE { return TesseractDefinition("scale")…; }`, once per module, at
/// global scope. The body needs `using namespace tessera`, or full names.
#define TESSERA_MODULE                                                                  \
  namespace {                                                                           \
  struct TesseraAuthor {                                                                \
    static tessera::TesseractDefinition define();                                       \
  };                                                                                    \
  }                                                                                     \
  extern "C" __attribute__((visibility("default"))) const TesseraModule tessera_module; \
  extern "C" const TesseraModule tessera_module = {                                     \
      tessera::kModuleMagic, tessera::kModuleAbi,                                       \
      TESSERA_HEADERS_HASH,  tessera::kModuleCompiler,                                  \
      TESSERA_VERSION,       +[] { return new tessera::TesseractDefinition(TesseraAuthor::define()); }};                                                  \
  tessera::TesseractDefinition TesseraAuthor::define()
