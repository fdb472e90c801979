// Whole-file reading and writing with errors that name the file. All are safe to call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "tessera/base/result.h"

namespace tessera {

/// Reads a file of at most `limit_bytes`. Follows links; a pipe is waited for. Errors: kNotFound, kTooLarge,
/// kInvalidArgument (a folder); others of the system, by system_error().
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t limit_bytes);
/// Writes a file, replacing one that is there: in place, so a reader may see a part. Mode 0644. Errors: of the system,
/// naming the file.
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::string_view content);

/// Writes all bytes to a descriptor, going on after short writes and EINTR. Requires: a descriptor that blocks
/// (kUnavailable otherwise). Errors: of the system; a part may be written then.
[[nodiscard]] Status write_all(int fd, std::span<const std::byte> bytes);
/// Reads exactly `into.size()` bytes at an offset; returns how many there were if the file ends before. Leaves the
/// descriptor's own position. Errors: kInvalidArgument (an offset beyond any file); others of the system.
[[nodiscard]] Result<std::size_t> read_at(int fd, std::uint64_t offset_bytes, std::span<std::byte> into);

/// The file of this program, links resolved. Errors: of the system.
[[nodiscard]] Result<std::filesystem::path> program_path();

/// An Error for a failed system call: "<what>: <text of errno>", native_code() errno, and the code that fits:
/// kNotFound, kInvalidArgument (rights, kinds, names), kOutOfMemory, kTooLarge, kUnavailable (descriptors, disk),
/// kDeadlineExceeded, else kInternal.
[[nodiscard]] Error system_error(std::string_view what, int errno_value);

}  // namespace tessera
