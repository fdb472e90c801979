#include "served_modules.h"

#include <gtest/gtest.h>

#include <sstream>
#include <utility>
#include <vector>

#include "tessera/tesseract/module.h"

namespace tessera::testing {

ServedModules::ServedModules(std::string_view names, const std::function<void(DaemonOptions&)>& change) {
  std::filesystem::create_directory(input_path());
  DaemonOptions options;
  options.port = 0;
  options.unix_socket = folder_.path() / "sock";
  options.config.debug = true;
  options.config.input_path = input_path();
  options.config.output_path = output_path();
  options.workers = 4;
  if (change) {
    change(options);
  }
  std::vector<std::shared_ptr<const TesseractDefinition>> tesseracts;
  std::istringstream words{std::string(names)};
  for (std::string name; words >> name;) {
    const bool is_example = name.starts_with("examples/");
    const std::filesystem::path folder = is_example ? TESSERA_EXAMPLES_FOLDER : TESSERA_TEST_MODULES_FOLDER;
    auto loaded = load_module(folder / (name.substr(name.find('/') + 1) + ".so"));
    if (!loaded.has_value()) {
      ADD_FAILURE() << loaded.error().message();
      continue;
    }
    tesseracts.push_back(*std::move(loaded));
  }
  auto started = Daemon::start(options, std::move(tesseracts), logger_, clock_);
  if (!started.has_value()) {
    throw std::runtime_error(started.error().message());
  }
  daemon_ = *std::move(started);
}

}  // namespace tessera::testing
