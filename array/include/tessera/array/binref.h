// Arrays in files: references, the reader of input files, the writer of output files (PROTOCOL.md section 5.3).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/confined_folder.h"
#include "tessera/base/result.h"
#include "tessera/base/unique_fd.h"

namespace tessera {

/// `<path>[:<offset>[:<compressed size>]]`. The path is as it was sent, not checked; an offset that is missing is 0. A
/// plain value.
struct BinrefReference {
  std::string path;
  std::optional<std::uint64_t> offset_bytes;
  std::optional<std::uint64_t> compressed_size_bytes;
};

/// Reads a reference; nothing if the text is empty, or holds a line break, or a number does not fit 64 bits.
/// At most two trailing `:<digits>` come off the path. Safe to call from any thread.
[[nodiscard]] std::optional<BinrefReference> parse_binref(std::string_view text);

/// Where a writer gets files from whose pages are there already, so that writing to them is only a copy.
class PreparedFiles {
 public:
  virtual ~PreparedFiles() = default;
  /// A file of the writer's folder without a name, for `size_bytes` and perhaps more; nothing if there is none. It is
  /// empty, but may be longer than what is written to it. Safe to call from any thread, as the next.
  [[nodiscard]] virtual UniqueFd take(std::uint64_t size_bytes) = 0;
  /// Says how large a file became in the end: others of that size are likely to be asked for.
  virtual void note_size(std::uint64_t size_bytes) = 0;
  /// Gives the room of all such files back to a disk that is full; returns whether there were any.
  virtual bool give_up() = 0;

 protected:
  PreparedFiles() = default;
};

/// Writes the arrays of one response into files named `<uuid>.bin`, removing them again unless commit() is called.
/// Owns the open file. One thread at a time.
class BinrefWriter {
 public:
  /// A file larger than this is left for a new one before the next array (PROTOCOL.md section 5.3).
  static constexpr std::uint64_t kFullFileBytes = 104857600;

  /// Files go to `<folder>/<subfolder>/`, references begin with `<subfolder>/` (neither slash if it is empty).
  /// `before_first_file` (may be empty) makes that subfolder, once, when the first array is written; its error is
  /// append()'s. `folder` and `prepared` (may be null) outlive the writer.
  BinrefWriter(const ConfinedFolder& folder, std::string subfolder, std::function<Status()> before_first_file,
               PreparedFiles* prepared = nullptr);
  BinrefWriter(const BinrefWriter&) = delete;
  BinrefWriter& operator=(const BinrefWriter&) = delete;
  ~BinrefWriter();

  /// Appends one array's bytes, in order and without gaps; returns its reference, offset included. With `is_compressed`
  /// the bytes are one lz4 frame and their number is part of the reference. On a full disk, prepared files are given up
  /// first. Errors: of the file system, and of `before_first_file`; after one call nothing but the destructor.
  [[nodiscard]] Result<std::string> append(std::span<const std::byte> bytes, bool is_compressed);
  /// Begins anew in the file that is open, over what it holds: warm pages cost nothing. Others are removed. Requires:
  /// nobody reads what was written so far any more, nor will. Errors: of the file system; then nothing but the
  /// destructor.
  [[nodiscard]] Status rewind();
  /// Keeps the files. Call when the response is complete, before its first byte leaves.
  void commit();

 private:
  [[nodiscard]] Status write(std::span<const std::byte> bytes);
  [[nodiscard]] Status open_next_file(std::uint64_t size_bytes);
  [[nodiscard]] Result<UniqueFd> make_file(const std::string& name, std::uint64_t size_bytes);
  void finish_file();

  const ConfinedFolder& folder_;
  std::string subfolder_;
  std::function<Status()> before_first_file_;
  PreparedFiles* prepared_;
  std::vector<std::string> names_;  // below the folder, all files so far
  UniqueFd file_;
  bool is_prepared_ = false;      // the current file, which may be longer than what is in it
  std::uint64_t size_bytes_ = 0;  // of the current file
  bool is_committed_ = false;
};

}  // namespace tessera
