#include "served/server.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "served/http_client.h"

namespace tessera::gpu_kit {
namespace {

constexpr std::chrono::seconds kStartTime{20};

std::filesystem::path make_folder() {
  std::string name = std::filesystem::temp_directory_path() / "tessera-kit-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("no folder can be made: " + name);
  }
  return name;
}

}  // namespace

Server::Server(const std::vector<std::string>& tesseracts) : folder_(make_folder()), socket_(folder_ / "socket") {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tessera";
  std::vector<std::string> words{program,           "serve",    "--unix",        socket_, "--no-tcp",
                                 "--gpu-transport", "cuda_ipc", "--output-path", folder_};
  words.insert(words.end(), tesseracts.begin(), tesseracts.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::execv(program.c_str(), arguments.data());
    ::_exit(127);
  }
  const auto deadline = std::chrono::steady_clock::now() + kStartTime;
  while (std::chrono::steady_clock::now() < deadline) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      throw std::runtime_error("tessera serve has ended at its start");
    }
    try {
      static_cast<void>(HttpClient(socket_).get("/health"));
      return;
    } catch (const std::runtime_error&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  throw std::runtime_error("tessera serve does not answer");
}

Server::~Server() {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace tessera::gpu_kit
