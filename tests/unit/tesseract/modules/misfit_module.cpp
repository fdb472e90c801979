// Modules that do not fit, one for each macro that may be set: OTHER_MAGIC, OTHER_ABI, OTHER_HEADERS, NO_SYMBOL.

#include "tessera/tesseract/module.h"

#ifndef NO_SYMBOL
// NOLINTNEXTLINE(readability-identifier-naming): the name that every module exports.
extern "C" __attribute__((visibility("default"))) const TesseraModule tessera_module;
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" const TesseraModule tessera_module = {
#ifdef OTHER_MAGIC
    .magic = 1,
#else
    .magic = tessera::kModuleMagic,
#endif
#ifdef OTHER_ABI
    .abi = 99,
#else
    .abi = tessera::kModuleAbi,
#endif
#ifdef OTHER_HEADERS
    .headers_hash = "0123456789abcdef",
#else
    .headers_hash = TESSERA_HEADERS_HASH,
#endif
    .compiler = tessera::kModuleCompiler,
    .tessera_version = "9.8.7",
    .make = nullptr};
#endif
