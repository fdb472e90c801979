// Prints who is on the stand-in's machine (TESSERA_STAND_IN_ROOT), what each holds, and what it has called.
#include <iostream>
#include <memory>
#include <string_view>

#include "functions.h"
#include "knobs.h"
#include "machine.h"

int main() {
  using tessera::stand_in::kFunctionCount;
  using tessera::stand_in::kFunctionNames;
  using tessera::stand_in::Knobs;
  using tessera::stand_in::Machine;
  using tessera::stand_in::ProcessRecord;

  Knobs knobs = Knobs::from_environment();
  std::unique_ptr<Machine> machine = Machine::look(knobs);
  if (machine == nullptr) {
    std::cerr << "cannot use " << knobs.root << '\n';
    return 1;
  }
  for (int gpu = 0; gpu < knobs.device_count; ++gpu) {
    std::cout << "gpu " << gpu << " used_bytes " << machine->used_bytes(static_cast<std::uint32_t>(gpu)) << '\n';
  }
  for (std::size_t index = 0; const ProcessRecord* record = machine->process(index); ++index) {
    if (record->state == ProcessRecord::kFree) {
      continue;
    }
    std::string_view state = record->state == ProcessRecord::kAlive ? "alive" : "dead";
    std::cout << "process " << record->pid << ' ' << state << " allocations " << record->live_allocations << " bytes "
              << record->allocated_bytes << " mappings " << record->live_mappings << " bytes " << record->mapped_bytes
              << '\n';
    for (std::size_t function = 0; function < kFunctionCount; ++function) {
      if (record->calls[function] > 0) {
        std::cout << "  " << kFunctionNames[function] << ' ' << record->calls[function] << '\n';
      }
    }
  }
  return 0;
}
