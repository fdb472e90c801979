// A Tesseract built by a project of its own.
#include "tessera/tesseract/tesseract.h"

using namespace tessera;

TESSERA_MODULE {
  return TesseractDefinition("scale")
      .inputs(Schema("InputSchema")
                  .field("x", array(DType::kFloat64, {kFreeAxis}), "The vector.")
                  .field("factor", number(), "What each element is multiplied by."))
      .outputs(Schema("OutputSchema").field("y", array(DType::kFloat64, {kFreeAxis}), "factor * x"))
      .apply([](const Object& inputs, Context& /*context*/) -> Object {
        const double factor = inputs["factor"].number();
        Array y = inputs["x"].array();
        for (double& element : y.mutable_values<double>()) {
          element *= factor;
        }
        return {{"y", y}};
      });
}
