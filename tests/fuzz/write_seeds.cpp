// Writes the seeds of all targets as files: FOLDER/<target>/<number>.
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

#include "seeds.h"
#include "targets.h"
#include "tessera/base/file.h"

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "usage: tessera_write_seeds FOLDER\n";
    return 2;
  }
  try {
    for (const tessera::fuzzing::Target& target : tessera::fuzzing::all_targets()) {
      const std::filesystem::path folder = std::filesystem::path(words[1]) / target.name;
      std::filesystem::create_directories(folder);
      std::size_t number = 0;
      for (const std::string& seed : tessera::fuzzing::seeds_of(target.name)) {
        const tessera::Status written = tessera::write_file(folder / std::to_string(number++), seed);
        if (!written.has_value()) {
          std::cerr << written.error().message() << '\n';
          return 1;
        }
      }
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
