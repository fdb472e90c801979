// A Tesseract as this daemon serves it: its folders, its reader of arrays, its documents.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "device_inputs.h"
#include "docs_page.h"
#include "prepared_outputs.h"
#include "run_cleanup.h"
#include "tessera/array/array_reader.h"
#include "tessera/base/confined_folder.h"
#include "tessera/daemon/daemon.h"
#include "tessera/daemon/openapi.h"
#include "tessera/tesseract/definition.h"

namespace tessera {

/// Constant once made, but for `runs` and `prepared`, which are safe to use from any thread. Stays where it is: its
/// members refer to each other.
struct ServedTesseract {
  ServedTesseract(std::shared_ptr<const TesseractDefinition> served, ConfinedFolder input_folder,
                  ConfinedFolder output_folder, const DaemonOptions& options, GpuExchange& gpu)
      : definition(std::move(served)),
        input(std::move(input_folder)),
        output(std::move(output_folder)),
        prepared(output, options.prepared_file_bytes),
        array_bytes(options.array_bytes),
        has_transport(gpu.transport() != nullptr),
        device_inputs(gpu, !definition->does_take_device_arrays()),
        arrays(reader(device_inputs)),
        runs(output),
        openapi(openapi_document(*definition, options.config)),
        docs(docs_page(*definition, options.config)) {}
  ServedTesseract(const ServedTesseract&) = delete;
  ServedTesseract& operator=(const ServedTesseract&) = delete;

  /// A reader whose GPU arrays `device` reads. `tally` counts what is read; it may be null. Both outlive it.
  [[nodiscard]] ArrayReader reader(const DeviceInputs& device, ArrayTally* tally = nullptr) const {
    return {&input, ArrayReader::Limits{array_bytes}, has_transport ? &device : nullptr, tally};
  }

  std::shared_ptr<const TesseractDefinition> definition;
  ConfinedFolder input;
  ConfinedFolder output;
  PreparedOutputs prepared;
  std::uint64_t array_bytes;
  bool has_transport;
  DeviceInputs device_inputs;
  ArrayReader arrays;
  RunCleanup runs;
  std::string openapi;
  std::string docs;
};

}  // namespace tessera
