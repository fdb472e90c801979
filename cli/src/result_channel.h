// The way of a result out of the process, kept apart from all that anybody prints.
#pragma once

#include <string>

#include "tessera/array/body.h"
#include "tessera/base/confined_folder.h"
#include "tessera/base/unique_fd.h"

namespace tessera {

/// From its making on, descriptor 1 is standard error, for modules and threads that print whenever they like; the
/// result goes to what was standard output, or to a file. One exists at a time.
class ResultChannel final {
 public:
  /// Throws std::system_error.
  ResultChannel();
  ResultChannel(const ResultChannel&) = delete;
  ResultChannel& operator=(const ResultChannel&) = delete;
  /// Puts descriptor 1 back.
  ~ResultChannel();

  /// Writes the whole body, no newline after it. Throws CommandError.
  void write(const Body& body) const;
  /// Writes it to a file below `folder`, making its parents and replacing it if it is there. Throws CommandError.
  static void write_to_file(const Body& body, const ConfinedFolder& folder, const std::string& name);

 private:
  UniqueFd standard_output_;
};

}  // namespace tessera
