// A module whose author made a mistake in a schema.

#include "tessera/tesseract/tesseract.h"

using namespace tessera;

TESSERA_MODULE {
  return TesseractDefinition("throwing").inputs(Schema("InputSchema").field("x", text()).field("x", text()));
}
