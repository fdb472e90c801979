#include "machine.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <bitset>
#include <cerrno>
#include <memory>
#include <type_traits>

#include "machine_layout.h"

namespace tessera::stand_in {

namespace {

std::uint64_t add(std::uint64_t& counter, std::uint64_t amount) {
  return std::atomic_ref<std::uint64_t>(counter).fetch_add(amount, std::memory_order_relaxed) + amount;
}

void make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno == ENOENT) {
    make_folder(path.substr(0, path.find_last_of('/')));
    mkdir(path.c_str(), 0700);
  }
}

}  // namespace

Id random_id() {
  Id id{};
  while (getrandom(id.data(), id.size(), 0) != static_cast<ssize_t>(id.size())) {
  }
  return id;
}

std::string hex(const Id& id) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::uint8_t byte : id) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Machine::Machine(Knobs knobs, const std::string& path) : knobs_(std::move(knobs)), file_(path, sizeof(Layout)) {
  static_assert(std::is_trivially_copyable_v<Layout>);
  layout_ = reinterpret_cast<Layout*>(file_.bytes());
}

std::unique_ptr<Machine> Machine::look(const Knobs& knobs) {
  make_folder(knobs.root);
  // Another layout is another machine.
  std::string path = knobs.root + "/machine." + std::to_string(sizeof(Layout));
  std::unique_ptr<Machine> machine(new Machine(knobs, path));
  return machine->layout_ == nullptr ? nullptr : std::move(machine);
}

std::unique_ptr<Machine> Machine::join(const Knobs& knobs) {
  std::unique_ptr<Machine> machine = look(knobs);
  if (machine != nullptr) {
    SharedFileLock lock(machine->file_);
    machine->clear_dead();
    machine->take_place();
  }
  return machine;
}

void Machine::take_place() {
  // A place that was never used, else that of the process that is dead for longest.
  std::size_t place = kProcesses;
  for (std::size_t index = 0; index < kProcesses; ++index) {
    ProcessRecord& record = layout_->processes[index];
    if (record.state == ProcessRecord::kFree) {
      place = index;
      break;
    }
    if (record.state == ProcessRecord::kDead &&
        (place == kProcesses || record.serial < layout_->processes[place].serial)) {
      place = index;
    }
  }
  if (place == kProcesses) {
    return;
  }
  self_ = static_cast<std::uint32_t>(place);
  serial_ = ++layout_->next_serial;
  record_ = &layout_->processes[place];
  *record_ = {};
  record_->pid = getpid();
  record_->serial = serial_;
  file_.claim_life(place);
  record_->state = ProcessRecord::kAlive;
  layout_->process_end = std::max(layout_->process_end, self_ + 1);
}

std::pair<std::uint64_t, std::uint64_t> Machine::count_call(Function function) {
  static std::uint64_t overall = 0;
  if (record_ == nullptr) {
    return {0, 0};
  }
  return {add(record_->calls[static_cast<std::size_t>(function)], 1), add(overall, 1)};
}

void Machine::count_allocation(std::int64_t number, std::int64_t bytes) {
  if (record_ != nullptr) {
    add(record_->live_allocations, static_cast<std::uint64_t>(number));
    add(record_->allocated_bytes, static_cast<std::uint64_t>(bytes));
  }
}

void Machine::count_mapping(std::int64_t number, std::int64_t bytes) {
  if (record_ != nullptr) {
    add(record_->live_mappings, static_cast<std::uint64_t>(number));
    add(record_->mapped_bytes, static_cast<std::uint64_t>(bytes));
  }
}

void Machine::set_context(std::uint32_t gpu, bool is_there) {
  SharedFileLock lock(file_);
  if (record_ != nullptr) {
    record_->contexts = is_there ? record_->contexts | (1U << gpu) : record_->contexts & ~(1U << gpu);
  }
}

void Machine::clear_dead() {
  bool is_any_dead = false;
  for (std::uint32_t index = 0; index < layout_->process_end; ++index) {
    ProcessRecord& record = layout_->processes[index];
    bool is_self = record_ == &record;
    if (record.state == ProcessRecord::kAlive && !is_self && !file_.is_claimed_by_another(index)) {
      record.state = ProcessRecord::kDead;
      record.contexts = 0;
      is_any_dead = release_holds_of(index) || is_any_dead;
    }
  }
  if (is_any_dead) {
    recount_holders();
  }
  for (std::uint32_t index = 0; index < layout_->block_end; ++index) {
    if (layout_->blocks[index].is_used != 0 && layout_->blocks[index].holders == 0) {
      retire(index);
    }
  }
}

bool Machine::release_holds_of(std::uint32_t process) {
  if (knobs_.breaks(Mutation::dead_memory_stays)) {
    return false;
  }
  for (std::uint32_t index = 0; index < layout_->holder_end; ++index) {
    HolderRecord& holder = layout_->holders[index];
    if (holder.is_used != 0 && holder.process == process) {
      if (knobs_.breaks(Mutation::death_takes_from_importer)) {
        overwrite(layout_->blocks[holder.block]);
      }
      holder.is_used = 0;
    }
  }
  for (std::uint32_t index = 0; index < layout_->export_end; ++index) {
    if (layout_->exports[index].process == process) {
      layout_->exports[index].is_used = 0;
    }
  }
  shrink(layout_->holders, layout_->holder_end);
  shrink(layout_->exports, layout_->export_end);
  return true;
}

void Machine::overwrite(const BlockRecord& record) const {
  UniqueFd fd = UniqueFd::adopt(open(block_path(record.id).c_str(), O_RDWR | O_CLOEXEC));
  std::string bytes(record.size_bytes, '\0');
  static_cast<void>(!pwrite(fd.value(), bytes.data(), bytes.size(), 0));
}

// A process may have died between its two writes for one hold, so the sums are made anew.
void Machine::recount_holders() {
  for (std::uint32_t index = 0; index < layout_->block_end; ++index) {
    layout_->blocks[index].holders = 0;
  }
  for (std::uint32_t index = 0; index < layout_->holder_end; ++index) {
    if (layout_->holders[index].is_used != 0) {
      ++layout_->blocks[layout_->holders[index].block].holders;
    }
  }
}

std::uint64_t Machine::sum_used(std::uint32_t gpu) {
  std::uint64_t sum = 0;
  for (std::uint32_t index = 0; index < layout_->block_end; ++index) {
    const BlockRecord& record = layout_->blocks[index];
    sum += record.is_used != 0 && record.gpu == gpu ? record.size_bytes : 0;
  }
  for (std::uint32_t index = 0; index < layout_->process_end; ++index) {
    sum += (layout_->processes[index].contexts >> gpu & 1U) * knobs_.context_bytes;
  }
  return sum;
}

std::uint64_t Machine::used_bytes(std::uint32_t gpu) {
  SharedFileLock lock(file_);
  clear_dead();
  return sum_used(gpu);
}

const ProcessRecord* Machine::find_process(int pid) {
  SharedFileLock lock(file_);
  const ProcessRecord* found = nullptr;
  for (std::uint32_t index = 0; index < layout_->process_end; ++index) {
    const ProcessRecord& record = layout_->processes[index];
    if (record.state != ProcessRecord::kFree && record.pid == pid &&
        (found == nullptr || found->serial < record.serial)) {
      found = &record;
    }
  }
  return found;
}

const ProcessRecord* Machine::process(std::size_t index) {
  SharedFileLock lock(file_);
  if (index == 0) {
    clear_dead();
  }
  return index < layout_->process_end ? &layout_->processes[index] : nullptr;
}

}  // namespace tessera::stand_in
