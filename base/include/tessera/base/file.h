// Whole-file reading and writing with errors that name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "tessera/base/result.h"

namespace tessera {

/// Reads a file of at most `limit_bytes`. Errors: kNotFound, kTooLarge, kInvalidArgument (a folder), kInternal.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t limit_bytes);
/// Writes a file, replacing one that is there.
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::string_view content);

/// Writes all bytes to a descriptor, going on after short writes and EINTR.
[[nodiscard]] Status write_all(int fd, std::span<const std::byte> bytes);
/// Reads exactly `into.size()` bytes at an offset; returns how many there were if the file ends before.
[[nodiscard]] Result<std::size_t> read_at(int fd, std::uint64_t offset_bytes, std::span<std::byte> into);

/// An Error for a failed system call: "<what>: <text of errno>", with the code that fits errno.
[[nodiscard]] Error system_error(std::string_view what, int errno_value);

}  // namespace tessera
