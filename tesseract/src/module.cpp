#include "tessera/tesseract/module.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <system_error>
#include <utility>

#include "module_file.h"
#include "tessera/base/file.h"
#include "tessera/base/library.h"
#include "tessera/tesseract/endpoint_error.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

Error wrong(const fs::path& path, const std::string& what) {
  return {ErrorCode::kInvalidArgument, path.string() + " " + what};
}

constexpr auto kSourceExtensions = std::to_array<std::string_view>({".cpp", ".cc", ".cxx", ".c++", ".C", ".c"});

// `nullptr` may stand in a module that is no module of ours after all.
std::string_view text_of(const char* text) {
  return text != nullptr ? std::string_view(text) : std::string_view("?");
}

std::string described(std::string_view version, std::string_view compiler, std::string_view headers) {
  return "tessera " + std::string(version) + " (" + std::string(compiler) + ", headers " + std::string(headers) + ")";
}

Status check_fit(const fs::path& path, const TesseraModule& module) {
  if (module.magic != kModuleMagic) {
    return wrong(path, "is no tessera module: its symbol tessera_module is something else");
  }
  std::string rebuild = "; build it again, for example with `tessera build`";
  if (module.abi != kModuleAbi) {
    // What follows these two members may lie elsewhere in that layout, so its version cannot be told.
    return wrong(path, "has module layout " + std::to_string(module.abi) +
                           ", but tessera " TESSERA_VERSION " reads layout " + std::to_string(kModuleAbi) + rebuild);
  }
  if (text_of(module.compiler) != kModuleCompiler) {
    rebuild = "; build it again with the compiler of this tessera, " + std::string(kModuleCompiler) +
              " (`tessera build` takes that one unless $CXX names another)";
  }
  if (text_of(module.headers_hash) != TESSERA_HEADERS_HASH || text_of(module.compiler) != kModuleCompiler ||
      module.make == nullptr) {
    return wrong(
        path, "was built for " +
                  described(text_of(module.tessera_version), text_of(module.compiler), text_of(module.headers_hash)) +
                  ", but this is " + described(TESSERA_VERSION, kModuleCompiler, TESSERA_HEADERS_HASH) + rebuild);
  }
  return {};
}

// The folder of this program, where the layout `bin/`, `lib/` begins; empty if the system does not say.
fs::path program_folder() {
  const Result<fs::path> program = program_path();
  return program ? program->parent_path() : fs::path();
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

Error not_found(std::string text) {
  return {ErrorCode::kNotFound, std::move(text)};
}

// What is there instead of a module, and how to get from there to one.
std::string hint_for(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (is_file(path)) {
    return std::ranges::find(kSourceExtensions, extension) != kSourceExtensions.end()
               ? " is a source: `tessera build " + path.string() + "` makes a module of it"
               : "";
  }
  const fs::path beside = fs::path(path).replace_extension(".so");
  if (extension.empty() && is_file(beside)) {
    return "; there is " + beside.string();
  }
  for (const std::string_view source : kSourceExtensions) {
    if (const fs::path file = fs::path(path).replace_extension(source); is_file(file)) {
      return "; `tessera build " + file.string() + "` makes one of the source that is there";
    }
  }
  return "";
}

Result<fs::path> module_at(std::string_view text) {
  fs::path path = fs::path(text).lexically_normal();
  std::error_code error;
  if (fs::is_directory(path, error)) {
    // "solvers/heat/" has an empty file name, "." only gets one once it is absolute.
    const fs::path folder = fs::canonical(path, error);
    if (!error) {
      path = folder / (folder.filename().string() + ".so");
    }
  }
  const std::string hint = hint_for(path);
  if (!is_file(path)) {
    return not_found("there is no module " + path.string() + hint);
  }
  if (!hint.empty()) {
    return Error(ErrorCode::kInvalidArgument, path.string() + hint);
  }
  return path;
}

}  // namespace

Result<std::shared_ptr<const TesseractDefinition>> load_module(const fs::path& path) {
  if (!is_file(path)) {
    return not_found("there is no module " + path.string());
  }
  TESSERA_RETURN_IF_ERROR(check_module_file(path));
  // Made absolute, as the loader would search its own folders for a bare file name.
  TESSERA_ASSIGN_OR_RETURN(Library library, Library::open(fs::absolute(path).string()));
  const auto* module = static_cast<const TesseraModule*>(library.find_symbol("tessera_module"));
  if (module == nullptr) {
    return wrong(path, "is no tessera module: it does not export tessera_module (is TESSERA_MODULE missing?)");
  }
  TESSERA_RETURN_IF_ERROR(check_fit(path, *module));

  std::unique_ptr<TesseractDefinition> definition;
  try {
    definition.reset(module->make());
  } catch (...) {
    const EndpointFailure failure = current_failure();
    return wrong(path, "cannot be loaded: " + failure.kind + ": " + failure.text);
  }
  if (definition == nullptr) {
    return wrong(path, "cannot be loaded: it made no Tesseract");
  }
  if (const Status status = definition->check(); !status.has_value()) {
    return wrong(path, "cannot be loaded: " + status.error().message());
  }
  // The definition holds functions of the library, so the library goes after it: the deleter owns both.
  auto keeper = std::make_shared<Library>(std::move(library));
  return std::shared_ptr<const TesseractDefinition>(definition.release(),
                                                    [keeper = std::move(keeper)](const TesseractDefinition* last) {
                                                      std::default_delete<const TesseractDefinition>()(last);
                                                    });
}

std::vector<fs::path> module_folders() {
  std::vector<fs::path> folders;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read at start, before there are threads that could set it
  if (const char* variable = std::getenv("TESSERA_PATH"); variable != nullptr) {
    std::string_view rest = variable;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0) {  // an empty entry would be the current folder
        folders.emplace_back(rest.substr(0, end));
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  if (const fs::path beside = program_folder(); !beside.empty()) {
    folders.push_back((beside / "../lib/tessera").lexically_normal());
  }
  return folders;
}

Result<fs::path> find_module(std::string_view name_or_path) {
  if (name_or_path.find('/') != std::string_view::npos) {
    return module_at(name_or_path);
  }
  std::string searched;
  for (const fs::path& folder : module_folders()) {
    fs::path path = folder / (std::string(name_or_path) + ".so");
    if (!name_or_path.empty() && is_file(path)) {
      return path;
    }
    searched += (searched.empty() ? "" : ", ") + folder.string();
  }
  return not_found("there is no Tesseract '" + std::string(name_or_path) + "' in " + searched +
                   " (set TESSERA_PATH to search elsewhere, or give a path with a '/')");
}

std::vector<fs::path> list_modules() {
  std::map<std::string, fs::path> by_name;
  for (const fs::path& folder : module_folders()) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      if (entry->path().extension() == ".so" && is_file(entry->path())) {
        by_name.try_emplace(entry->path().stem().string(), entry->path());
      }
    }
  }
  std::vector<fs::path> modules;
  modules.reserve(by_name.size());
  for (auto& [name, path] : by_name) {
    modules.push_back(std::move(path));
  }
  return modules;
}

}  // namespace tessera
