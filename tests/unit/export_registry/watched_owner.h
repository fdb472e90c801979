// Owners that say when they are destroyed.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "tessera/export_registry/export_registry.h"

namespace tessera::testing {

/// An owner that calls `when_gone` on the thread that destroys it.
inline ExportRegistry::Owner owner_that_calls(std::function<void()> when_gone) {
  return {nullptr, [call = std::move(when_gone)](void* /*nothing*/) { call(); }};
}

/// What ended for a reason, of all that did.
inline std::uint64_t ended(const ExportRegistry& registry, LeaseEnd end) {
  return registry.stats().ended[static_cast<std::size_t>(end)];
}

inline std::uint64_t ended(const ExportRegistry& registry) {
  const RegistryStats stats = registry.stats();
  std::uint64_t sum = 0;
  for (const std::uint64_t count : stats.ended) {
    sum += count;
  }
  return sum;
}

}  // namespace tessera::testing
