// Descriptors 0, 1 and 2, which everybody takes for input, output and errors.
#pragma once

namespace tessera {

/// Opens /dev/null for those that are closed, so that no other file ever gets their numbers and what is printed. Call
/// it first of all. If even that cannot be opened, nothing is done.
void open_standard_descriptors();

}  // namespace tessera
