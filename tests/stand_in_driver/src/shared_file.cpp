#include "shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace tessera::stand_in {
namespace {

struct flock record_lock(short type, std::size_t offset) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(offset);
  lock.l_len = 1;
  return lock;
}

void set_lock(int fd, short type, std::size_t offset) {
  struct flock lock = record_lock(type, offset);
  while (fcntl(fd, F_SETLKW, &lock) != 0 && errno == EINTR) {
  }
}

constexpr std::size_t kLifeOffset = 1;

}  // namespace

SharedFile::SharedFile(const std::string& path, std::size_t size_bytes)
    : fd_(UniqueFd::adopt(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600))) {
  if (!fd_.is_open()) {
    return;
  }
  set_lock(fd_.value(), F_WRLCK, 0);
  struct stat status{};
  bool has_size = fstat(fd_.value(), &status) == 0 && (status.st_size >= static_cast<off_t>(size_bytes) ||
                                                       ftruncate(fd_.value(), static_cast<off_t>(size_bytes)) == 0);
  set_lock(fd_.value(), F_UNLCK, 0);
  void* mapped = has_size ? mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.value(), 0) : MAP_FAILED;
  bytes_ = mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

void SharedFile::lock() {
  mutex_.lock();
  set_lock(fd_.value(), F_WRLCK, 0);
}

void SharedFile::unlock() {
  set_lock(fd_.value(), F_UNLCK, 0);
  mutex_.unlock();
}

void SharedFile::claim_life(std::size_t index) {
  set_lock(fd_.value(), F_WRLCK, kLifeOffset + index);
}

bool SharedFile::is_claimed_by_another(std::size_t index) const {
  struct flock lock = record_lock(F_WRLCK, kLifeOffset + index);
  return fcntl(fd_.value(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace tessera::stand_in
