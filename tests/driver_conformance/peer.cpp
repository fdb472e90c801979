#include "peer.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "peer_message.h"

namespace tessera::driver_conformance {
namespace {

constexpr int kPeerSocket = 3;

// Between fork and exec: calls of the kernel only.
[[noreturn]] void become_peer(int socket, char** environment, bool has_own_pid_namespace) {
  if (has_own_pid_namespace) {
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
      _exit(1);
    }
    pid_t child = fork();
    if (child != 0) {
      // The socket stays open in the child alone, so that the end of one is seen as that of the other.
      close(socket);
      int status = 0;
      while (child > 0 && waitpid(child, &status, 0) < 0) {
      }
      _exit(0);
    }
  }
  dup2(socket, kPeerSocket);
  char program[] = "/proc/self/exe";
  char option[] = "--peer";
  char* arguments[] = {program, option, nullptr};
  execve(program, arguments, environment);
  _exit(1);
}

}  // namespace

Peer::Peer(const Options& options) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
    return;
  }
  std::vector<char*> environment;
  environment.reserve(options.environment.size() + 200);
  for (const std::string& entry : options.environment) {
    environment.push_back(const_cast<char*>(entry.c_str()));
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    environment.push_back(*entry);
  }
  environment.push_back(nullptr);
  // A number above that of the socket in the child, so that dup2 always makes a new one.
  int theirs = fcntl(sockets[1], F_DUPFD_CLOEXEC, kPeerSocket + 1);
  close(sockets[1]);
  pid_ = fork();
  if (pid_ == 0) {
    become_peer(theirs, environment.data(), options.has_own_pid_namespace);
  }
  close(theirs);
  socket_ = sockets[0];
  if (ask({.order = Order::kPid}).code != 0) {
    kill();
  }
}

Peer::~Peer() {
  kill();
}

Reply Peer::ask(const Request& request) const {
  Reply reply;
  if (socket_ < 0 || !send_message(socket_, &request, sizeof(request), -1) ||
      !receive_message(socket_, &reply, sizeof(reply), reply.fd)) {
    reply.code = -1;
  }
  return reply;
}

Code Peer::start(int device) const {
  Reply reply = ask({.order = Order::kInit});
  return reply.code != 0 ? reply.code : ask({.order = Order::kSetDevice, .a = static_cast<std::uint64_t>(device)}).code;
}

void Peer::kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  if (socket_ >= 0) {
    close(socket_);
    socket_ = -1;
  }
}

}  // namespace tessera::driver_conformance
