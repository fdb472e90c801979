// Calls that fail, or end the process, on command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "functions.h"
#include "result_codes.h"
#include "tessera/base/mutex.h"

namespace tessera::stand_in {

/// Which call of which function of this process fails or kills it. Safe to use from any thread.
///
/// Faults: "cuMemAlloc_v2:3:2,cuIpcOpenMemHandle_v2:2+:205,cuMemcpyDtoDAsync_v2:1:700!" are name, number of the call
/// from 1 (`n+`: that and all later ones, `*`: all), the code; `!` makes it the error of the context ever after.
/// Crash: "cuIpcOpenMemHandle_v2:2:before" or ":after". The name `*` counts the calls of all functions.
class Faults {
 public:
  struct Outcome {
    Result code = kSuccess;
    bool is_sticky = false;
  };

  void set_faults(const std::string& specification);
  void set_crash(const std::string& specification);

  /// Counts a call and says how it is to fail. Kills the process where a crash before it was asked for.
  [[nodiscard]] std::optional<Outcome> begin(Function function, std::uint64_t number, std::uint64_t overall_number);
  /// Kills the process where a crash after the call was asked for.
  void end(Function function, std::uint64_t number, std::uint64_t overall_number);

 private:
  struct Rule {
    std::string name;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    Outcome outcome;
    bool is_after = false;
    [[nodiscard]] bool matches(Function function, std::uint64_t number, std::uint64_t overall_number) const;
  };
  [[nodiscard]] static std::vector<Rule> parse(const std::string& specification, bool is_crash);

  Mutex mutex_;
  std::vector<Rule> faults_ TESSERA_GUARDED_BY(mutex_);
  std::vector<Rule> crashes_ TESSERA_GUARDED_BY(mutex_);
};

}  // namespace tessera::stand_in
