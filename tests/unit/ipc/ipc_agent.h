// The other process of the tests: what it can be asked for, line by line.
#pragma once

namespace tessera {

/// Serves the channel until it is closed. Each line is a command, each answer a line:
///
///   export SIZE SEED            a uint8 array of the pool -> its reference
///   export-part SIZE SKIP SEED  the same, in memory of its own, SKIP bytes after the begin -> its reference
///   export-managed SIZE SEED    the same, in managed memory -> its reference
///   free                        drops all exports, and frees their memory -> "freed"
///   import SIZE REFERENCE       -> "ok PATH SEED" of a pattern, "other bytes", or "error CODE MESSAGE"
///   hold SIZE REFERENCE         the same, borrowed and kept
///   check REFERENCE HEX         answers a transport check -> the reply's reference, or "error CODE MESSAGE"
///   counts                      -> live allocations and mappings
///
/// Returns the exit status of the process.
[[nodiscard]] int run_ipc_agent();

}  // namespace tessera
