// What this program tells of an endpoint that takes it down.
#pragma once

namespace tessera {

/// From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and exit(3) that come while a CrashNote lives are told on what
/// descriptor 2 is now, wherever it leads later; then the process ends as it would have. Call it once, before there are
/// threads. If descriptor 2 cannot be duplicated, nothing is told.
void tell_of_crashes(bool as_json);

}  // namespace tessera
