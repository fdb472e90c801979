#include "module_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/checked_math.h"
#include "tessera/base/file.h"
#include "tessera/base/unique_fd.h"

namespace tessera {
namespace {

constexpr auto kClass = static_cast<unsigned char>(sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32);
#if defined(__x86_64__)
constexpr ElfW(Half) kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr ElfW(Half) kMachine = EM_AARCH64;
#else
#error "which machine is this?"
#endif

class ModuleFile {
 public:
  ModuleFile(const std::filesystem::path& path, int fd, std::uint64_t size_bytes)
      : path_(path), fd_(fd), size_bytes_(size_bytes) {}

  [[nodiscard]] Status check() const {
    ElfW(Ehdr) header{};
    TESSERA_ASSIGN_OR_RETURN(const std::size_t count,
                             read_at(fd_, 0, std::as_writable_bytes(std::span<ElfW(Ehdr), 1>(&header, 1))));
    if (count < SELFMAG || std::memcmp(static_cast<const void*>(header.e_ident), ELFMAG, SELFMAG) != 0) {
      return wrong("is no shared library");
    }
    if (count < sizeof header) {
      return is_cut(sizeof header);
    }
    if (header.e_ident[EI_CLASS] != kClass || header.e_machine != kMachine) {
      return wrong("is for another kind of machine");
    }
    if (header.e_type != ET_DYN || header.e_phentsize != sizeof(ElfW(Phdr))) {
      return wrong("is no shared library, though it is an ELF file");
    }
    TESSERA_RETURN_IF_ERROR(check_part(header.e_phoff, std::uint64_t{header.e_phnum} * header.e_phentsize));
    TESSERA_RETURN_IF_ERROR(check_segments(header));
    return check_part(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize);
  }

 private:
  [[nodiscard]] Error wrong(const std::string& what) const {
    return {ErrorCode::kInvalidArgument, path_.string() + " " + what};
  }

  [[nodiscard]] Error is_cut(std::uint64_t needed_bytes) const {
    return wrong("is cut short: it has " + std::to_string(size_bytes_) + " bytes, and its headers state at least " +
                 std::to_string(needed_bytes));
  }

  [[nodiscard]] Status check_part(std::uint64_t offset, std::uint64_t size_bytes) const {
    const std::optional<std::uint64_t> end = checked_add(offset, size_bytes);
    if (size_bytes == 0) {
      return {};
    }
    if (!end) {
      return wrong("is no shared library: its headers make no sense");
    }
    return *end <= size_bytes_ ? Status() : Status(is_cut(*end));
  }

  [[nodiscard]] Status check_segments(const ElfW(Ehdr) & header) const {
    std::vector<ElfW(Phdr)> segments(header.e_phnum);
    TESSERA_ASSIGN_OR_RETURN(const std::size_t count,
                             read_at(fd_, header.e_phoff, std::as_writable_bytes(std::span(segments))));
    if (count < segments.size() * sizeof(ElfW(Phdr))) {
      return is_cut(header.e_phoff + segments.size() * sizeof(ElfW(Phdr)));
    }
    for (const ElfW(Phdr) & segment : segments) {
      TESSERA_RETURN_IF_ERROR(check_part(segment.p_offset, segment.p_filesz));
    }
    return {};
  }

  const std::filesystem::path& path_;
  int fd_;
  std::uint64_t size_bytes_;
};

}  // namespace

Status check_module_file(const std::filesystem::path& path) {
  const UniqueFd file = UniqueFd::adopt(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info{};
  if (!file.is_open() || ::fstat(file.value(), &info) != 0) {
    return system_error("cannot read '" + path.string() + "'", errno);
  }
  return ModuleFile(path, file.value(), static_cast<std::uint64_t>(info.st_size)).check();
}

}  // namespace tessera
