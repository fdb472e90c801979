// A module that fits: states what its functions need in memory of its own.

#include <string>

#include "tessera/tesseract/tesseract.h"

using namespace tessera;

TESSERA_MODULE {
  return TesseractDefinition("good").apply(
      [greeting = std::string(100, 'g')](const Object& /*inputs*/, Context& /*context*/) {
        return Object{{"greeting", greeting}};
      });
}
