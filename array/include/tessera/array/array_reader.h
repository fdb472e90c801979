// Reads arrays from JSON text straight into their final buffers (PROTOCOL.md sections 5 and 6).
#pragma once

#include <cstdint>
#include <variant>

#include "tessera/array/array.h"
#include "tessera/array/array_fault.h"
#include "tessera/array/array_tally.h"
#include "tessera/array/device_array.h"
#include "tessera/array/json_scanner.h"
#include "tessera/base/confined_folder.h"

namespace tessera {

/// Reads array objects (json, base64, binref, lz4, cuda_ipc; `data` may also be the list itself) and bare numbers and
/// lists. Immutable; safe to call from any thread, but that a tally is counted in by one thread at a time. `files`,
/// `device` and `tally` outlive the reader.
class ArrayReader {
 public:
  struct Limits {
    std::uint64_t array_bytes = std::uint64_t{16} << 30;  ///< of one array once decoded and stretched, and
                                                          ///< of a compressed binref frame; beyond: kDecode
    bool accepts_raw = false;  ///< the encoding `raw`, as older runtimes call json: clients read it, servers do not
  };

  /// `files` is the input path; without it every binref is refused. `device` reads arrays in GPU memory; without it
  /// they are refused, too. `tally` counts what is read; it may be null.
  ArrayReader(const ConfinedFolder* files, Limits limits, const DeviceArrayReader* device = nullptr,
              ArrayTally* tally = nullptr)
      : files_(files), limits_(limits), device_(device), tally_(tally) {}

  /// Reads the value that stands at the scanner and makes it what `spec` declares. The scanner stands behind the value
  /// afterwards, in case of a fault too; a fault of the scanner (no JSON) is the scanner's, and wins.
  /// Throws std::bad_alloc.
  [[nodiscard]] std::variant<Array, ArrayFault> read(JsonScanner& scanner, const ArraySpec& spec) const;

  /// Reads the value like read(), but without casting or stretching: dtype and shape must be the declared ones, else
  /// kDType, kShape or kDimensionality (the rule for the expected outputs of /test, PROTOCOL.md section 4.5). Throws
  /// std::bad_alloc.
  [[nodiscard]] std::variant<Array, ArrayFault> read_exactly(JsonScanner& scanner, const ArraySpec& spec) const;

 private:
  [[nodiscard]] std::variant<Array, ArrayFault> read_uncast(JsonScanner& scanner, const ArraySpec& spec,
                                                            bool as_doubles, ArrayEncoding& encoding) const;
  [[nodiscard]] std::variant<Array, ArrayFault> read_fitted(JsonScanner& scanner, const ArraySpec& spec,
                                                            ArrayEncoding& encoding) const;
  void count(const std::variant<Array, ArrayFault>& read, ArrayEncoding encoding) const;

  const ConfinedFolder* files_;
  Limits limits_;
  const DeviceArrayReader* device_;
  ArrayTally* tally_;
};

}  // namespace tessera
