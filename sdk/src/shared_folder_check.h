// Finds out whether a server reads the folder that this process takes for its input folder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/array/body.h"
#include "tessera/base/confined_folder.h"
#include "tessera/base/result.h"
#include "tessera/sdk/array_input.h"
#include "tessera/sdk/client_error.h"

namespace tessera {

/// A call that refers to a file of a random length, asks for more than that, and is refused in any case: the server
/// that reads this very file says how long it is. begin(), send body() to `apply`, give the answer to find_obstacle(),
/// drop it. One thread at a time.
class SharedFolderCheck {
 public:
  /// Writes the file. `folder` outlives the check. Errors: of the file system.
  [[nodiscard]] static Result<SharedFolderCheck> begin(const ConfinedFolder& folder, const ArrayInput& input);
  SharedFolderCheck(SharedFolderCheck&& other) noexcept;
  SharedFolderCheck& operator=(SharedFolderCheck&&) = delete;
  ~SharedFolderCheck();

  [[nodiscard]] Body body() const;
  /// Nothing if the folder is shared; otherwise what the server said of the file. `items`: of the 422.
  [[nodiscard]] std::optional<std::string> find_obstacle(const std::vector<RefusedItem>& items) const;

 private:
  SharedFolderCheck(const ConfinedFolder& folder, ArrayInput input) : folder_(&folder), input_(std::move(input)) {}

  const ConfinedFolder* folder_;  // nullptr once moved from
  ArrayInput input_;
  std::string name_;
  std::size_t size_bytes_ = 0;
};

}  // namespace tessera
