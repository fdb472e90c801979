// Questions about the driver that no documentation answers: P1 to P14 of the list in the README.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "driver_table.h"
#include "peer.h"
#include "rows/rows.h"

namespace tessera::gpu_kit {

using namespace tessera::driver_conformance;

inline constexpr std::size_t kPage = std::size_t{2} << 20U;
inline constexpr int kDescriptorType = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

/// Each runs in a process of its own, where nothing of CUDA is initialised.
void probe_open_errors(Rows& rows);           // P1
void probe_pid_collision(Rows& rows);         // P2
void probe_small_allocations(Rows& rows);     // P3
void probe_second_export(Rows& rows);         // P4
void probe_second_context(Rows& rows);        // P5
void probe_open_times(Rows& rows);            // P6
void probe_allocation_times(Rows& rows);      // P7
void probe_copy_times(Rows& rows);            // P8
void probe_event_times(Rows& rows);           // P9
void probe_event_without_shm(Rows& rows);     // P9
void probe_word_times(Rows& rows);            // P9
void probe_kept_descriptor(Rows& rows);       // P10
void probe_read_only_import(Rows& rows);      // P11
void probe_visible_devices(Rows& rows);       // P12
void probe_granularity(Rows& rows);           // P13
void probe_freed_while_imported(Rows& rows);  // P14

/// The other end of probe_word_times. Returns its exit code.
[[nodiscard]] int answer_words(const std::string& handle);

/// "201 CUDA_ERROR_INVALID_CONTEXT"
[[nodiscard]] std::string code_text(Code code);
/// Throws std::runtime_error that names the call unless the code is 0.
void need(Code code, const std::string& call);
/// Initialises CUDA and makes the primary context of the first GPU current.
void enter_gpu();
/// A call that the table does not have; nullptr if the driver does not have it either.
[[nodiscard]] void* find_call(const char* name);

/// An allocation of a peer, filled with a value, and its handle.
struct PeerExport {
  Address address = 0;
  Handle handle{};
};
[[nodiscard]] PeerExport export_from(const Peer& peer, std::size_t size_bytes, unsigned char value);
/// A peer that has entered the first GPU. Throws std::runtime_error.
void start(const Peer& peer);

/// Memory of this process, freed with it.
class OwnMemory {
 public:
  explicit OwnMemory(std::size_t size_bytes) { need(driver().cuMemAlloc_v2(&address_, size_bytes), "cuMemAlloc"); }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
  ~OwnMemory() { driver().cuMemFree_v2(address_); }
  [[nodiscard]] Address address() const { return address_; }

 private:
  Address address_ = 0;
};

/// Microseconds that something takes.
template <class Body>
[[nodiscard]] double time_us(Body body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] std::string us_text(double microseconds);
/// The value that 64 bytes at an address have, "mixed", or the error.
[[nodiscard]] std::string look(Address address);
/// Sizes from 2 MiB on, each 8 times the one before, up to `most` and to half of what is free.
[[nodiscard]] std::vector<std::size_t> sizes_up_to(std::size_t most);

}  // namespace tessera::gpu_kit
