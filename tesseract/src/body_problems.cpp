#include "tessera/tesseract/body_problems.h"

#include <cstdint>

#include "scalar_check.h"

namespace tessera {

Problem problem_of_syntax(const JsonFault& fault) {
  Problem problem = problem_of(Problem::Kind::kJsonInvalid);
  problem.place = {"body", static_cast<std::int64_t>(fault.position)};
  problem.text = fault.text;
  return problem;
}

Problem problem_of_no_object(JsonKind kind, std::string_view body) {
  Problem problem = problem_of(kind == JsonKind::kNull ? Problem::Kind::kMissing : Problem::Kind::kModelAttributesType);
  problem.place = {"body"};
  problem.input = body;
  return problem;
}

}  // namespace tessera
