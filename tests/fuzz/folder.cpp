#include "folder.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

#include "tessera/base/file.h"

namespace tessera::fuzzing {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "tessera-fuzz-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot make " + name);
  }
  path_ = std::filesystem::canonical(name);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Folder::write(const std::filesystem::path& name, std::string_view content) const {
  const std::filesystem::path file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  const Status written = write_file(file, content);
  if (!written.has_value()) {
    throw std::runtime_error(written.error().message());
  }
}

}  // namespace tessera::fuzzing
