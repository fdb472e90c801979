// A folder that lives as long as the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "tessera/base/file.h"

namespace tessera::testing {

/// A new empty folder below the system's folder for temporary files, removed with all it holds. One thread at a time.
class TempFolder final {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      ADD_FAILURE() << "cannot make " << name;
    }
    path_ = std::filesystem::canonical(name);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  /// The folder's absolute path, links resolved.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Writes a file below the folder, its parents too, and returns its path.
  // NOLINTNEXTLINE(modernize-use-nodiscard): the path is often known
  std::filesystem::path write(const std::filesystem::path& name, std::string_view content) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    const Status written = write_file(file, content);
    EXPECT_TRUE(written.has_value()) << name;
    return file;
  }

  /// Reads a file below the folder; empty, and a failure, if it is not there.
  [[nodiscard]] std::string read(const std::filesystem::path& name) const {
    constexpr std::uint64_t kLimitBytes = std::uint64_t{1} << 30U;
    Result<std::string> content = read_file(path_ / name, kLimitBytes);
    if (!content) {
      ADD_FAILURE() << content.error().message();
      return {};
    }
    return *std::move(content);
  }

  /// Whether something of that name is there.
  [[nodiscard]] bool has(const std::filesystem::path& name) const {
    return std::filesystem::exists(std::filesystem::symlink_status(path_ / name));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace tessera::testing
