// A folder for the files of a target, removed when the program ends.
#pragma once

#include <filesystem>
#include <string_view>

namespace tessera::fuzzing {

/// A new empty folder below the system's folder for temporary files.
class Folder final {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file below it, its parents too.
  void write(const std::filesystem::path& name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

}  // namespace tessera::fuzzing
