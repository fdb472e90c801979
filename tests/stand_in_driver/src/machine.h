// What all processes of one machine share: who lives, which memory is taken and by whom, which handles are out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "functions.h"
#include "knobs.h"
#include "shared_file.h"

namespace tessera::stand_in {

using Id = std::array<std::uint8_t, 16>;
[[nodiscard]] Id random_id();
[[nodiscard]] std::string hex(const Id& id);

/// A process that has used the driver. Its counters stay readable after its death, until the place is used again.
/// Only the process itself writes them.
struct ProcessRecord {
  enum State : std::uint32_t { kFree, kAlive, kDead };
  std::uint32_t state;
  std::int32_t pid;
  std::uint64_t serial;
  std::uint32_t contexts;  ///< a bit for each GPU on which it has a context
  std::uint32_t padding;
  std::uint64_t live_allocations;
  std::uint64_t allocated_bytes;
  std::uint64_t live_mappings;
  std::uint64_t mapped_bytes;
  std::uint64_t calls[kFunctionCount];
};

/// Physical memory of a GPU: a file. It is there as long as a process or a descriptor holds it.
struct BlockRecord {
  std::uint32_t is_used;
  std::uint32_t gpu;
  std::uint64_t size_bytes;
  Id id;
  std::uint64_t inode;
  std::uint32_t holders;
  std::uint32_t has_descriptors;  ///< was exported as a descriptor, which may be anywhere
};

struct HolderRecord {
  std::uint32_t is_used;
  std::uint32_t process;
  std::uint32_t block;
};

/// An allocation of which a handle was taken.
struct ExportRecord {
  std::uint32_t is_used;
  std::uint32_t process;
  std::uint32_t block;
  std::uint32_t device_key;  ///< the GPU, or its MIG instance: Device::key()
  Id id;
  std::uint64_t offset_bytes;
  std::uint64_t size_bytes;
  std::uint64_t address;  ///< in the exporter
  std::uint64_t process_serial;
};

/// The machine of one root folder. Safe to use from any thread; a process that is killed at any point leaves nothing
/// that the others do not clear away.
class Machine {
 public:
  static constexpr std::size_t kProcesses = 1024;
  static constexpr std::size_t kBlocks = 1U << 16;
  static constexpr std::size_t kExports = 1U << 16;
  static constexpr std::size_t kHolders = 1U << 17;

  /// Joins it. Nothing if the folder cannot be used.
  [[nodiscard]] static std::unique_ptr<Machine> join(const Knobs& knobs);
  /// Looks at it without becoming one of its processes.
  [[nodiscard]] static std::unique_ptr<Machine> look(const Knobs& knobs);

  /// Counts one call of this process; gives its number, and that among all calls.
  std::pair<std::uint64_t, std::uint64_t> count_call(Function function);
  void count_allocation(std::int64_t number, std::int64_t bytes);
  void count_mapping(std::int64_t number, std::int64_t bytes);
  void set_context(std::uint32_t gpu, bool is_there);

  /// What is taken on a GPU, with that of contexts, after the dead were cleared away.
  [[nodiscard]] std::uint64_t used_bytes(std::uint32_t gpu);

  /// New memory, held once. Nothing if there is not so much left.
  [[nodiscard]] std::optional<std::uint32_t> create_block(std::uint32_t gpu, std::uint64_t size_bytes);
  /// Opens the file of a block that is held. Negative if that cannot be.
  [[nodiscard]] int open_block(std::uint32_t block);
  [[nodiscard]] BlockRecord block(std::uint32_t block);
  void release_block(std::uint32_t block);
  void mark_descriptors(std::uint32_t block);
  /// The block of a file, held once more.
  [[nodiscard]] std::optional<std::uint32_t> hold_inode(std::uint64_t inode);

  std::optional<std::uint32_t> add_export(const ExportRecord& record);
  void remove_export(std::uint32_t index);
  /// The export of an id if its process lives, with its block held once more.
  [[nodiscard]] std::optional<ExportRecord> hold_export(const Id& id);

  [[nodiscard]] const ProcessRecord* own_record() const { return record_; }

  /// The record of a process by its pid, the last one if there were several. May be null.
  [[nodiscard]] const ProcessRecord* find_process(int pid);
  /// For reports: copies of what there is, after the dead were cleared away.
  [[nodiscard]] const ProcessRecord* process(std::size_t index);

 private:
  struct Layout;
  Machine(Knobs knobs, const std::string& path);

  void clear_dead() TESSERA_REQUIRES(file_);
  bool release_holds_of(std::uint32_t process) TESSERA_REQUIRES(file_);
  void overwrite(const BlockRecord& record) const;
  void recount_holders() TESSERA_REQUIRES(file_);
  void retire(std::uint32_t block) TESSERA_REQUIRES(file_);
  [[nodiscard]] bool has_open_descriptor(const BlockRecord& record) const;
  [[nodiscard]] bool add_holder(std::uint32_t block) TESSERA_REQUIRES(file_);
  [[nodiscard]] std::string block_path(const Id& id) const;
  [[nodiscard]] std::uint64_t sum_used(std::uint32_t gpu) TESSERA_REQUIRES(file_);
  void take_place() TESSERA_REQUIRES(file_);

  Knobs knobs_;
  SharedFile file_;
  Layout* layout_ = nullptr;
  std::uint32_t self_ = 0;
  std::uint64_t serial_ = 0;
  ProcessRecord* record_ = nullptr;
};

}  // namespace tessera::stand_in
