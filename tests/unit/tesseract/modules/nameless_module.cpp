// A module whose Tesseract cannot be served: it has no good name.

#include "tessera/tesseract/tesseract.h"

using namespace tessera;

TESSERA_MODULE {
  return TesseractDefinition("not a name").apply([](const Object& inputs, Context& /*context*/) { return inputs; });
}
