// All that the author of a Tesseract includes.
#pragma once

#include "tessera/array/array.h"               // IWYU pragma: export
#include "tessera/array/value.h"               // IWYU pragma: export
#include "tessera/tesseract/context.h"         // IWYU pragma: export
#include "tessera/tesseract/definition.h"      // IWYU pragma: export
#include "tessera/tesseract/endpoint_error.h"  // IWYU pragma: export
#include "tessera/tesseract/module.h"          // IWYU pragma: export
#include "tessera/tesseract/path.h"            // IWYU pragma: export
#include "tessera/tesseract/schema.h"          // IWYU pragma: export
