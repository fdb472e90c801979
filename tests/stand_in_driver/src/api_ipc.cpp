// Handles of memory that other processes open.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "ipc_handle.h"
#include "memory.h"

namespace tessera::stand_in {
namespace {

bool can_export(const Driver& driver, const Allocation& allocation) {
  switch (allocation.kind) {
    case Kind::kLegacy:
      return true;
    case Kind::kManaged:
      return driver.breaks(Mutation::managed_exports);
    case Kind::kPool:
      return driver.breaks(Mutation::pool_exports);
    case Kind::kImported:
    case Kind::kHost:
    case Kind::kVirtual:
      break;
  }
  return false;
}

// Asks for the export of an allocation once in its life.
bool ensure_export(Driver& driver, Allocation& allocation, std::uint64_t address) TESSERA_REQUIRES(driver.mutex) {
  if (allocation.export_index && !driver.breaks(Mutation::handle_changes) &&
      !driver.breaks(Mutation::handle_at_offset)) {
    return true;
  }
  const Mapping& mapping = driver.space.mappings[allocation.mapping];
  ExportRecord record{};
  record.block = mapping.block->index();
  record.device_key = driver.devices[static_cast<std::size_t>(allocation.ordinal)].key();
  record.id = random_id();
  if (driver.breaks(Mutation::handle_lives_again)) {
    record.id = {};
    std::uint64_t key[2] = {allocation.address, static_cast<std::uint64_t>(getpid())};
    std::memcpy(record.id.data(), key, sizeof(key));
  }
  record.offset_bytes = address - mapping.address;
  record.size_bytes = allocation.size_bytes - (address - allocation.address);
  record.address = address;
  allocation.export_index = driver.machine->add_export(record);
  allocation.export_id = record.id;
  return allocation.export_index.has_value();
}

Result take_handle(Driver& driver, Handle* handle, std::uint64_t address) {
  MutexLock lock(driver.mutex);
  Allocation* allocation = driver.space.find_allocation(address);
  if (handle == nullptr) {
    return kInvalidValue;
  }
  if (allocation == nullptr) {
    // Memory of VMM is no allocation.
    if (driver.breaks(Mutation::vmm_exports) && driver.space.find_mapping(address) != nullptr) {
      *handle = {};
      return kSuccess;
    }
    return kInvalidValue;
  }
  if (!can_export(driver, *allocation)) {
    return kInvalidValue;
  }
  if (!ensure_export(driver, *allocation, driver.breaks(Mutation::handle_at_offset) ? address : allocation->address)) {
    return kOutOfMemory;
  }
  const Device& device = driver.devices[static_cast<std::size_t>(allocation->ordinal)];
  Handle made{};
  std::memcpy(made.magic, kMemoryMagic, sizeof(made.magic));
  made.pid = getpid();
  made.device_key = device.key();
  made.id = allocation->export_id;
  made.offset_bytes = 0;
  made.size_bytes = allocation->size_bytes;
  std::memcpy(made.uuid_prefix, device.uuid.data(), sizeof(made.uuid_prefix));
  std::memcpy(handle, &made, sizeof(made));
  return kSuccess;
}

void spend(std::uint64_t us_per_mib, std::uint64_t size_bytes) {
  if (us_per_mib > 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(us_per_mib * round_up(size_bytes, 1U << 20) >> 20));
  }
}

// Whether memory of a device can be reached from a context.
Result check_device(const Driver& driver, const Context& context, std::uint32_t device_key) {
  const Device& here = driver.devices[context.ordinal()];
  if (here.key() == device_key) {
    return kSuccess;
  }
  for (const Device& device : driver.all) {
    if (device.key() == device_key) {
      if (device.instance || here.instance) {
        return driver.knobs.mig_code;
      }
      bool is_visible = std::ranges::any_of(driver.devices, [&](const Device& one) { return one.key() == device_key; });
      if (!is_visible) {
        return driver.knobs.hidden_code;
      }
      return are_peers(driver.knobs, here, device) ? kSuccess : driver.knobs.peer_code;
    }
  }
  return driver.knobs.hidden_code;
}

// The open that there is already, if any.
Allocation* find_import(Driver& driver, const Context& context, const Id& id) TESSERA_REQUIRES(driver.mutex) {
  for (auto& [address, allocation] : driver.space.allocations) {
    if (allocation.kind == Kind::kImported && allocation.imported_id == id && allocation.context == &context) {
      return &allocation;
    }
  }
  return nullptr;
}

// An old mapping of the same exporter at the addresses that the new one has there.
bool overlaps_import(Driver& driver, const ExportRecord& record) TESSERA_REQUIRES(driver.mutex) {
  for (const auto& [address, other] : driver.space.allocations) {
    if (other.kind == Kind::kImported && other.exporter_serial == record.process_serial &&
        other.exporter_address < record.address + record.size_bytes &&
        record.address < other.exporter_address + other.size_bytes) {
      return true;
    }
  }
  return false;
}

Result map_export(Driver& driver, Context& context, const ExportRecord& record, std::shared_ptr<PhysicalBlock> block,
                  std::uint64_t* address) TESSERA_REQUIRES(driver.mutex) {
  if (driver.breaks(Mutation::open_copies)) {
    std::shared_ptr<PhysicalBlock> copy = PhysicalBlock::create(*driver.machine, block->gpu(), block->size_bytes());
    if (copy == nullptr) {
      return kOutOfMemory;
    }
    std::memcpy(copy->bytes(), block->bytes(), block->size_bytes());
    block = copy;
  }
  std::uint64_t base = map_block(driver, context, block, Kind::kImported);
  if (base == 0) {
    return kOutOfMemory;
  }
  Allocation allocation;
  allocation.address = base + record.offset_bytes;
  allocation.size_bytes = record.size_bytes;
  allocation.kind = Kind::kImported;
  allocation.ordinal = static_cast<int>(context.ordinal());
  allocation.context = &context;
  allocation.buffer_id = driver.next_id();
  allocation.mapping = base;
  allocation.opens = 1;
  allocation.imported_id = record.id;
  allocation.exporter_serial = record.process_serial;
  allocation.exporter_address = record.address;
  driver.space.allocations[allocation.address] = allocation;
  driver.machine->count_mapping(1, static_cast<std::int64_t>(record.size_bytes));
  *address = allocation.address;
  return kSuccess;
}

Result open_handle(Driver& driver, Context& context, std::uint64_t* address, const Handle& handle) {
  if (address == nullptr) {
    return kInvalidValue;
  }
  if (std::memcmp(handle.magic, kMemoryMagic, sizeof(handle.magic)) != 0) {
    if (driver.breaks(Mutation::garbage_opens)) {
      std::optional<std::uint64_t> made = allocate(driver, context, 4096, Kind::kLegacy);
      *address = made.value_or(0);
      return kSuccess;
    }
    return driver.knobs.garbage_code;
  }
  // The driver compares numbers, so a process of another PID namespace may be taken for this one.
  if (handle.pid == getpid() && !driver.breaks(Mutation::own_handle_opens)) {
    return kInvalidContext;
  }
  if (Result reachable = check_device(driver, context, handle.device_key); reachable != kSuccess) {
    return reachable;
  }
  spend(driver.knobs.open_us_per_mib, handle.size_bytes);
  MutexLock lock(driver.mutex);
  std::optional<ExportRecord> record = driver.machine->hold_export(handle.id);
  std::shared_ptr<PhysicalBlock> block = record ? PhysicalBlock::adopt(*driver.machine, record->block) : nullptr;
  if (!record || block == nullptr) {
    return driver.knobs.freed_code;
  }
  if (Allocation* open = find_import(driver, context, handle.id);
      open != nullptr && !driver.breaks(Mutation::reopen_moves)) {
    // Before CUDA 11.1 a handle could be opened once.
    if (driver.knobs.version < 11010) {
      return kAlreadyMapped;
    }
    ++open->opens;
    *address = open->address;
    return kSuccess;
  }
  if (overlaps_import(driver, *record) && !driver.breaks(Mutation::reopen_moves)) {
    return kAlreadyMapped;
  }
  return map_export(driver, context, *record, std::move(block), address);
}

Result close_handle(Driver& driver, Context& context, std::uint64_t address) {
  context.synchronize();
  std::uint64_t size = 0;
  {
    MutexLock lock(driver.mutex);
    auto found = driver.space.allocations.find(address);
    if (found == driver.space.allocations.end() || found->second.kind != Kind::kImported) {
      return driver.breaks(Mutation::unknown_close) ? kSuccess : kInvalidValue;
    }
    if (found->second.context != &context) {
      return kInvalidContext;
    }
    size = found->second.size_bytes;
    if (--found->second.opens == 0 || driver.breaks(Mutation::first_close_unmaps)) {
      driver.drop(found->second);
    }
  }
  spend(driver.knobs.close_us_per_mib, size);
  return kSuccess;
}

}  // namespace

TESSERA_STAND_IN_EXPORT int cuIpcGetMemHandle(Handle* handle, std::uint64_t address) {
  return call_in_context(Function::cuIpcGetMemHandle,
                         [&](Driver& driver, Context&) { return take_handle(driver, handle, address); });
}

TESSERA_STAND_IN_EXPORT int cuIpcOpenMemHandle(std::uint64_t* address, Handle handle, unsigned /*flags*/) {
  return call_in_context(Function::cuIpcOpenMemHandle, [&](Driver& driver, Context& context) {
    return open_handle(driver, context, address, handle);
  });
}

TESSERA_STAND_IN_EXPORT int cuIpcOpenMemHandle_v2(std::uint64_t* address, Handle handle, unsigned /*flags*/) {
  return call_in_context(Function::cuIpcOpenMemHandle_v2, [&](Driver& driver, Context& context) {
    return open_handle(driver, context, address, handle);
  });
}

TESSERA_STAND_IN_EXPORT int cuIpcCloseMemHandle(std::uint64_t address) {
  return call_in_context(Function::cuIpcCloseMemHandle,
                         [&](Driver& driver, Context& context) { return close_handle(driver, context, address); });
}

}  // namespace tessera::stand_in
