#include "tessera/array/binref.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "tessera/base/file.h"
#include "tessera/base/random_id.h"

namespace tessera {
namespace {

// Where a `:<digits>` at the end of the text begins; npos if there is none, or nothing before it.
std::size_t find_trailing_number(std::string_view text) {
  const std::size_t last_other = text.find_last_not_of("0123456789");
  const bool is_number = last_other != std::string_view::npos && last_other != 0 && text[last_other] == ':' &&
                         last_other + 1 < text.size();
  return is_number ? last_other : std::string_view::npos;
}

bool is_full(const Error& error) {
  return error.native_code() == ENOSPC || error.native_code() == EDQUOT;
}

std::optional<std::uint64_t> parse_digits(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [stop, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return code == std::errc{} ? std::optional<std::uint64_t>(number) : std::nullopt;
}

}  // namespace

std::optional<BinrefReference> parse_binref(std::string_view text) {
  if (text.empty() || text.find('\n') != std::string_view::npos) {
    return std::nullopt;
  }
  BinrefReference reference;
  const std::size_t last = find_trailing_number(text);
  if (last == std::string_view::npos) {
    reference.path = text;
    return reference;
  }
  const std::optional<std::uint64_t> last_number = parse_digits(text.substr(last + 1));
  const std::string_view rest = text.substr(0, last);
  const std::size_t first = find_trailing_number(rest);
  if (first == std::string_view::npos) {
    reference.path = rest;
    reference.offset_bytes = last_number;
    return last_number ? std::optional(std::move(reference)) : std::nullopt;
  }
  reference.path = rest.substr(0, first);
  reference.offset_bytes = parse_digits(rest.substr(first + 1));
  reference.compressed_size_bytes = last_number;
  return reference.offset_bytes && last_number ? std::optional(std::move(reference)) : std::nullopt;
}

BinrefWriter::BinrefWriter(const ConfinedFolder& folder, std::string subfolder,
                           std::function<Status()> before_first_file, PreparedFiles* prepared)
    : folder_(folder),
      subfolder_(std::move(subfolder)),
      before_first_file_(std::move(before_first_file)),
      prepared_(prepared) {}

BinrefWriter::~BinrefWriter() {
  if (is_committed_) {
    return;
  }
  for (const std::string& name : names_) {
    // Nothing can be done about a file that stays.
    static_cast<void>(folder_.remove_file(name));
  }
}

void BinrefWriter::commit() {
  finish_file();
  is_committed_ = true;
}

// Takes off the pages of a prepared file that were not needed.
void BinrefWriter::finish_file() {
  if (prepared_ != nullptr && file_.is_open()) {
    prepared_->note_size(size_bytes_);
  }
  if (is_prepared_ && file_.is_open()) {
    static_cast<void>(::ftruncate(file_.value(), static_cast<::off_t>(size_bytes_)));
  }
}

Result<UniqueFd> BinrefWriter::make_file(const std::string& name, std::uint64_t size_bytes) {
  if (prepared_ != nullptr) {
    UniqueFd file = prepared_->take(size_bytes);
    // Should it not get a name, an ordinary file has the same fault, or none.
    is_prepared_ = file.is_open() && folder_.name_file(file, name);
    if (is_prepared_) {
      return file;
    }
  }
  return folder_.create_file(name);
}

Status BinrefWriter::open_next_file(std::uint64_t size_bytes) {
  finish_file();
  if (names_.empty() && before_first_file_) {
    TESSERA_RETURN_IF_ERROR(before_first_file_());
  }
  std::string name = RandomId::make().dashed() + ".bin";
  if (!subfolder_.empty()) {
    name.insert(0, subfolder_ + "/");
  }
  TESSERA_ASSIGN_OR_RETURN(file_, make_file(name, size_bytes));
  names_.push_back(std::move(name));
  size_bytes_ = 0;
  return {};
}

Status BinrefWriter::rewind() {
  if (!file_.is_open()) {
    return {};
  }
  while (names_.size() > 1) {
    TESSERA_RETURN_IF_ERROR(folder_.remove_file(names_.front()));
    names_.erase(names_.begin());
  }
  if (::lseek(file_.value(), 0, SEEK_SET) != 0) {
    return system_error("lseek", errno);
  }
  size_bytes_ = 0;
  return {};
}

// Writes behind what the current file holds, or into the next one.
Status BinrefWriter::write(std::span<const std::byte> bytes) {
  if (!file_.is_open() || size_bytes_ > kFullFileBytes) {
    TESSERA_RETURN_IF_ERROR(open_next_file(bytes.size()));
  }
  if (const Status written = write_all(file_.value(), bytes); !written) {
    const Error& error = written.error();
    return Error(error.code(), "cannot write '" + (folder_.path() / names_.back()).string() + "': " + error.message(),
                 error.native_code());
  }
  return {};
}

Result<std::string> BinrefWriter::append(std::span<const std::byte> bytes, bool is_compressed) {
  Status written = write(bytes);
  if (!written && is_full(written.error()) && prepared_ != nullptr && prepared_->give_up()) {
    // What was made ahead must not be missing now. A part may be written already.
    if (file_.is_open() && ::lseek(file_.value(), static_cast<::off_t>(size_bytes_), SEEK_SET) < 0) {
      return system_error("lseek", errno);
    }
    written = write(bytes);
  }
  TESSERA_RETURN_IF_ERROR(written);
  std::string reference = names_.back() + ":" + std::to_string(size_bytes_);
  if (is_compressed) {
    reference += ":" + std::to_string(bytes.size());
  }
  size_bytes_ += bytes.size();
  return reference;
}

}  // namespace tessera
