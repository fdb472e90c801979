// What tests ask the stand-in driver beside the CUDA calls. The functions are exported by its libcuda.so.1, so a test
// finds them with dlsym in the library it has loaded.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// What a process of the machine has now, or had when it died.
struct TesseraStandInCounts {
  std::uint64_t live_allocations;
  std::uint64_t allocated_bytes;
  std::uint64_t live_mappings;  ///< handles open, each counted once
  std::uint64_t mapped_bytes;
  std::uint64_t contexts;  ///< GPUs on which it has a context
};

/// Of this process, or of the one with a pid (0 is this one). Returns 0, or -1 if there is no such process.
int tessera_stand_in_counts(int pid, TesseraStandInCounts* counts);

/// How often a function was called, by its exported name: "cuIpcOpenMemHandle_v2". -1 for a name or a process that is
/// not there.
std::int64_t tessera_stand_in_calls(int pid, const char* function);

/// Bytes taken on a GPU of the machine, by all processes and by what they keep of each other.
std::uint64_t tessera_stand_in_used_bytes(int gpu);

/// As TESSERA_STAND_IN_FAULTS, from now on; the numbers of calls count from the begin of the process. "" for none.
void tessera_stand_in_set_faults(const char* specification);
/// As TESSERA_STAND_IN_CRASH, likewise.
void tessera_stand_in_set_crash(const char* specification);
/// As TESSERA_STAND_IN_DELAY_US, for work that is asked for from now on. Needs cuInit before.
void tessera_stand_in_set_delay_us(std::uint64_t delay_us);

/// Names that TESSERA_STAND_IN_BREAK takes, by number; null after the last.
const char* tessera_stand_in_mutation(std::size_t index);

}  // extern "C"
