// Unix sockets that carry large bodies.
#pragma once

namespace tessera {

/// Lets a Unix socket take 416 KiB that its peer has not read yet, twice as much as by itself: while one side fills it
/// the other empties it, and both sleep less often. A call with 64 MiB takes a seventh less. Where the system allows
/// less, it is less.
void lengthen_unix_queue(int socket);

}  // namespace tessera
