// Sockets between two programs of one host while a large body flows.
#pragma once

#include <chrono>
#include <cstddef>

namespace tessera {

/// A socket that moved so much at once is in flow: the peer is at work on the rest.
inline constexpr std::size_t kFlowBytes = std::size_t{16} << 10;

/// Looks for `events` (poll(2)) of a socket in flow, for 20 µs without sleeping: that is how soon the rest follows, and
/// less than waking takes, twice that on a core that was asleep. Returns those that hold; 0 if none do, or at once
/// where there is no second core for the peer.
[[nodiscard]] short poll_in_flow(int socket, short events);
/// The same for any time, on any machine.
[[nodiscard]] short poll_without_sleep(int socket, short events, std::chrono::microseconds time);

/// Lets a Unix socket take 416 KiB that its peer has not read yet, twice as much as it usually does: while one side
/// fills it the other empties it, and both sleep less often. Where the system allows less, it is less; where it gives
/// more, that stays.
void lengthen_unix_queue(int socket);

}  // namespace tessera
