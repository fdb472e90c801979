#include "cut_recv.h"

#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace tessera::fuzzing {
namespace {

std::size_t largest_piece = SIZE_MAX;
bool does_hesitate = false;
bool is_next_nothing = false;

}  // namespace

CutReceives::CutReceives(std::size_t piece, bool is_hesitant) {
  largest_piece = piece;
  does_hesitate = is_hesitant;
  is_next_nothing = false;
}

CutReceives::~CutReceives() {
  largest_piece = SIZE_MAX;
  does_hesitate = false;
}

}  // namespace tessera::fuzzing

// The linker's names for the two sides of --wrap=recv.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming,cert-dcl37-c,cert-dcl51-cpp)
extern "C" ssize_t __real_recv(int socket, void* into, std::size_t size, int flags);

extern "C" ssize_t __wrap_recv(int socket, void* into, std::size_t size, int flags) {
  using namespace tessera::fuzzing;
  if ((flags & MSG_PEEK) == 0 && does_hesitate) {
    is_next_nothing = !is_next_nothing;
    if (is_next_nothing) {
      errno = EAGAIN;
      return -1;
    }
  }
  return __real_recv(socket, into, std::min(size, largest_piece), flags);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming,cert-dcl37-c,cert-dcl51-cpp)
