#include "result_channel.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <span>
#include <system_error>
#include <vector>

#include "command.h"
#include "tessera/base/file.h"

namespace tessera {
namespace {

void write_body(int fd, const Body& body) {
  constexpr std::size_t kPieceBytes = std::size_t{256} << 10U;
  std::vector<std::byte> scratch(kPieceBytes);
  Body::Cursor cursor(body);
  for (std::span<const std::byte> piece = cursor.next(scratch); !piece.empty(); piece = cursor.next(scratch)) {
    if (const Status status = write_all(fd, piece); !status.has_value()) {
      throw CommandError(ExitCode::kFailure, "cannot write the result: " + status.error().message());
    }
  }
}

void check(const Status& status) {
  if (!status.has_value()) {
    throw CommandError(ExitCode::kFailure, "cannot write the output file: " + status.error().message());
  }
}

}  // namespace

ResultChannel::ResultChannel() {
  std::cout.flush();
  std::fflush(stdout);  // NOLINT(cert-err33-c): nothing of importance was printed yet
  standard_output_ = UniqueFd::adopt(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!standard_output_.is_open() || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot redirect standard output");
  }
}

ResultChannel::~ResultChannel() {
  std::cout.flush();
  std::fflush(stdout);  // NOLINT(cert-err33-c): there is nobody left to tell
  ::dup2(standard_output_.value(), STDOUT_FILENO);
}

void ResultChannel::write(const Body& body) const {
  write_body(standard_output_.value(), body);
}

void ResultChannel::write_to_file(const Body& body, const ConfinedFolder& folder, const std::string& name) {
  if (const std::filesystem::path parent = std::filesystem::path(name).parent_path(); !parent.empty()) {
    check(folder.create_folders(parent.string()));
  }
  const Result<UniqueFd> file = folder.open_for_append(name, true);
  if (!file) {
    check(file.error());
  }
  write_body(file->value(), body);
}

}  // namespace tessera
