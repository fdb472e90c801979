// References into files: whatever they say, nothing outside of the folder is read.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "arrays.h"
#include "folder.h"
#include "input.h"
#include "open_beneath.h"
#include "targets.h"
#include "tessera/array/binref.h"
#include "tessera/base/confined_folder.h"
#include "tessera/base/unique_fd.h"

namespace tessera::fuzzing {
namespace {

// Files inside hold `i`, those outside `o`; links lead here and there.
class Tree final {
 public:
  Tree() {
    top_.write("in/a.bin", std::string(64, 'i'));
    top_.write("in/sub/b.bin", std::string(16, 'i'));
    top_.write("in/:0", "iiii");
    top_.write("in/empty", "");
    top_.write("out/a.bin", std::string(64, 'o'));
    top_.write("inside/a.bin", std::string(64, 'o'));
    const auto link = [this](const char* name, const std::string& to) {
      std::filesystem::create_symlink(to, top_.path() / "in" / name);
    };
    link("here", "sub/b.bin");
    link("up", "../out/a.bin");
    link("folder", "../out");
    link("back", "../in/a.bin");
    link("whole", top_.path() / "out/a.bin");
    link("root", "/");
    link("loop", "loop");
    link("sub/parent", "..");
  }
  [[nodiscard]] std::filesystem::path inside() const { return top_.path() / "in"; }

 private:
  Folder top_;
};

void require_inside(const UniqueFd& file, const std::filesystem::path& root) {
  std::array<char, 4096> target{};
  const std::string name = "/proc/self/fd/" + std::to_string(file.value());
  const ssize_t size = ::readlink(name.c_str(), target.data(), target.size());
  require(size > 0, "a descriptor has a file");
  const std::string_view path(target.data(), static_cast<std::size_t>(size));
  require(path == root.native() || path.starts_with(root.native() + "/"), "nothing outside of the folder is opened");
}

}  // namespace

void fuzz_binref_path(std::string_view bytes) {
  static const Tree kTree;
  static const std::filesystem::path kRoot = kTree.inside();
  static const ConfinedFolder kFiles = ConfinedFolder::open(kRoot).value();
  static const UniqueFd kRootFd = UniqueFd::adopt(::open(kRoot.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));

  Input input(bytes);
  const std::int64_t count = input.byte();
  const bool is_compressed = input.pick(2) == 1;
  std::string text(input.rest());
  // A place that stands for the folder's own path, which no input can know.
  if (const std::size_t at = text.find("$ROOT"); at != std::string::npos) {
    text.replace(at, 5, kRoot.string());
  }

  if (const std::optional<BinrefReference> reference = parse_binref(text)) {
    require(!reference->path.empty(), "a reference names a file");
    if (const auto file = kFiles.open_file(reference->path); file.has_value()) {
      require_inside(*file, kRoot);
    }
    const bool is_relative = !reference->path.starts_with('/') && reference->path.find('\0') == std::string::npos;
    if (is_relative) {
      const UniqueFd file =
          open_beneath_by_resolving(kRootFd.value(), kRoot, reference->path, O_RDONLY | O_NONBLOCK, 0);
      if (file.value() >= 0) {
        require_inside(file, kRoot);
      }
    }
  }
  const ArrayReader reader(&kFiles, {kMaxArrayBytes});
  const auto array = read_array(reader, array_object(DType::kUInt8, {count}, json_text(text), "binref", is_compressed));
  if (array.has_value() && !is_compressed) {
    for (const std::uint8_t byte : array->values<std::uint8_t>()) {
      require(byte == 'i', "only what is inside is read");
    }
  }
}

}  // namespace tessera::fuzzing
