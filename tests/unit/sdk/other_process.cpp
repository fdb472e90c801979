#include "other_process.h"

namespace tessera::testing {

int run_other_process(std::string_view /*role*/) {
  return 0;
}

}  // namespace tessera::testing
