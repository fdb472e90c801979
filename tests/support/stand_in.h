// The stand-in driver of tests/stand_in_driver, as tests of cuda and ipc use it: its controls, and the calls that make
// memory of kinds that tessera itself does not make.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/temp_folder.h"
#include "tessera/base/library.h"
#include "tessera/stand_in/control.h"

namespace tessera::testing {

/// Where it is.
inline std::string stand_in_path() {
  return std::string(TESSERA_STAND_IN_FOLDER) + "/libcuda.so.1";
}

/// A machine of this program's own, for it and its children. Make one before the driver is loaded.
class StandInMachine final {
 public:
  StandInMachine() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before there are threads
    ::setenv("TESSERA_STAND_IN_ROOT", root_.path().c_str(), 1);
  }

 private:
  TempFolder root_;
};

/// The library as a test sees it. The driver must be initialised and a context current for what makes memory. Safe to
/// use from any thread.
class StandIn final {
 public:
  StandIn() : library_(open()) {}

  /// Of a process of the machine; 0 is this one.
  [[nodiscard]] TesseraStandInCounts counts(int pid = 0) const {
    TesseraStandInCounts counts{};
    EXPECT_EQ(call<int(int, TesseraStandInCounts*)>("tessera_stand_in_counts")(pid, &counts), 0);
    return counts;
  }
  [[nodiscard]] std::int64_t calls(const char* function) const {
    return call<std::int64_t(int, const char*)>("tessera_stand_in_calls")(0, function);
  }
  [[nodiscard]] std::uint64_t used_bytes(int gpu) const {
    return call<std::uint64_t(int)>("tessera_stand_in_used_bytes")(gpu);
  }
  /// The next call of a function fails.
  void fail_next(const std::string& function, int code) const {
    set_faults(function + ":" + std::to_string(calls(function.c_str()) + 1) + ":" + std::to_string(code));
  }
  void set_faults(const std::string& faults) const {
    call<void(const char*)>("tessera_stand_in_set_faults")(faults.c_str());
  }
  void set_delay_us(std::uint64_t delay_us) const {
    call<void(std::uint64_t)>("tessera_stand_in_set_delay_us")(delay_us);
  }

  [[nodiscard]] std::uint64_t allocate_managed(std::size_t size_bytes) const {
    unsigned long long address = 0;
    check(call<int(unsigned long long*, std::size_t, unsigned)>("cuMemAllocManaged")(&address, size_bytes, 1));
    return address;
  }
  [[nodiscard]] std::uint64_t allocate_from_pool(std::size_t size_bytes) const {
    unsigned long long address = 0;
    check(call<int(unsigned long long*, std::size_t, void*)>("cuMemAllocAsync")(&address, size_bytes, nullptr));
    return address;
  }
  void free(std::uint64_t address) const { check(call<int(unsigned long long)>("cuMemFree_v2")(address)); }

  /// A stream that does not wait for the legacy default stream, nor that for it.
  [[nodiscard]] void* create_stream() const {
    void* stream = nullptr;
    check(call<int(void**, unsigned)>("cuStreamCreate")(&stream, 1));
    return stream;
  }
  void destroy_stream(void* stream) const { check(call<int(void*)>("cuStreamDestroy_v2")(stream)); }
  /// Sets bytes as the work of a stream.
  void fill(std::uint64_t address, unsigned char value, std::size_t count, void* stream) const {
    check(call<int(unsigned long long, unsigned char, std::size_t, void*)>("cuMemsetD8Async")(address, value, count,
                                                                                              stream));
  }

  /// A call of the library by its exported name.
  template <class Signature>
  [[nodiscard]] Signature* call(const char* name) const {
    void* const symbol = library_.find_symbol(name);
    EXPECT_NE(symbol, nullptr) << name;
    return reinterpret_cast<Signature*>(symbol);
  }

 private:
  static Library open() {
    Result<Library> library = Library::open(stand_in_path());
    if (!library) {
      ADD_FAILURE() << library.error().message();
      std::abort();
    }
    return *std::move(library);
  }
  static void check(int result) { EXPECT_EQ(result, 0); }

  Library library_;
};

/// VMM memory: a reservation of pages that can be read and written, freed with its owner.
class VirtualMemory final {
 public:
  VirtualMemory(const StandIn& driver, std::size_t size_bytes, int device) : driver_(driver), size_bytes_(size_bytes) {
    Properties properties{};
    properties.type = 1;
    properties.location_type = 1;
    properties.location_id = device;
    using Address = unsigned long long;
    EXPECT_EQ(driver_.call<int(Address*, std::size_t, const Properties*, Address)>("cuMemCreate")(&handle_, size_bytes_,
                                                                                                  &properties, 0),
              0);
    EXPECT_EQ(driver_.call<int(Address*, std::size_t, std::size_t, Address, Address)>("cuMemAddressReserve")(
                  &address_, size_bytes_, 0, 0, 0),
              0);
    EXPECT_EQ(driver_.call<int(Address, std::size_t, std::size_t, Address, Address)>("cuMemMap")(address_, size_bytes_,
                                                                                                 0, handle_, 0),
              0);
    const Access access{1, device, 3};
    EXPECT_EQ(driver_.call<int(Address, std::size_t, const Access*, std::size_t)>("cuMemSetAccess")(
                  address_, size_bytes_, &access, 1),
              0);
  }
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;
  ~VirtualMemory() {
    using Address = unsigned long long;
    EXPECT_EQ(driver_.call<int(Address, std::size_t)>("cuMemUnmap")(address_, size_bytes_), 0);
    EXPECT_EQ(driver_.call<int(Address)>("cuMemRelease")(handle_), 0);
    EXPECT_EQ(driver_.call<int(Address, std::size_t)>("cuMemAddressFree")(address_, size_bytes_), 0);
  }

  [[nodiscard]] std::uint64_t address() const { return address_; }

 private:
  // CUmemAllocationProp and CUmemAccessDesc.
  struct Properties {
    int type;
    int handle_types;
    int location_type;
    int location_id;
    void* metadata;
    unsigned char flags[8];
  };
  struct Access {
    int location_type;
    int location_id;
    int flags;
  };

  const StandIn& driver_;
  std::size_t size_bytes_;
  unsigned long long handle_ = 0;
  unsigned long long address_ = 0;
};

}  // namespace tessera::testing
