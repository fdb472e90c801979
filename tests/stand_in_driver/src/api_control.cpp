// What tests ask.
#include <bit>
#include <cstring>

#include "driver.h"
#include "tessera/stand_in/control.h"

namespace tessera::stand_in {
namespace {

const ProcessRecord* find(int pid) {
  Driver& driver = Driver::instance();
  if (driver.machine == nullptr) {
    return nullptr;
  }
  return pid == 0 ? driver.machine->own_record() : driver.machine->find_process(pid);
}

std::uint64_t load(const std::uint64_t& counter) {
  return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(counter)).load(std::memory_order_relaxed);
}

}  // namespace

TESSERA_STAND_IN_EXPORT int tessera_stand_in_counts(int pid, TesseraStandInCounts* counts) {
  const ProcessRecord* record = find(pid);
  if (record == nullptr || counts == nullptr) {
    return -1;
  }
  counts->live_allocations = load(record->live_allocations);
  counts->allocated_bytes = load(record->allocated_bytes);
  counts->live_mappings = load(record->live_mappings);
  counts->mapped_bytes = load(record->mapped_bytes);
  counts->contexts = static_cast<std::uint64_t>(std::popcount(record->contexts));
  return 0;
}

TESSERA_STAND_IN_EXPORT std::int64_t tessera_stand_in_calls(int pid, const char* function) {
  const ProcessRecord* record = find(pid);
  for (std::size_t index = 0; record != nullptr && index < kFunctionCount; ++index) {
    if (std::strcmp(kFunctionNames[index], function) == 0) {
      return static_cast<std::int64_t>(load(record->calls[index]));
    }
  }
  return -1;
}

TESSERA_STAND_IN_EXPORT std::uint64_t tessera_stand_in_used_bytes(int gpu) {
  Driver& driver = Driver::instance();
  return driver.machine == nullptr || gpu < 0 ? 0 : driver.machine->used_bytes(static_cast<std::uint32_t>(gpu));
}

TESSERA_STAND_IN_EXPORT void tessera_stand_in_set_faults(const char* specification) {
  Driver::instance().faults.set_faults(specification);
}

TESSERA_STAND_IN_EXPORT void tessera_stand_in_set_crash(const char* specification) {
  Driver::instance().faults.set_crash(specification);
}

TESSERA_STAND_IN_EXPORT void tessera_stand_in_set_delay_us(std::uint64_t delay_us) {
  for (const auto& context : Driver::instance().contexts) {
    context->set_delay(std::chrono::microseconds(delay_us));
  }
}

TESSERA_STAND_IN_EXPORT const char* tessera_stand_in_mutation(std::size_t index) {
  return index < kMutationCount ? kMutationNames[index].data() : nullptr;
}

}  // namespace tessera::stand_in
