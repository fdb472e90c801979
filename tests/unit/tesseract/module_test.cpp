#include "tessera/tesseract/module.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/temp_folder.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

const fs::path kModules = TESSERA_TEST_MODULES;

std::string refusal(const fs::path& path) {
  const auto loaded = load_module(path);
  return loaded.has_value() ? "" : loaded.error().message();
}

// Sets TESSERA_PATH for the length of a test.
class SearchPath {
 public:
  explicit SearchPath(const std::string& value) {
    ::setenv("TESSERA_PATH", value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): tests have one thread
  }
  SearchPath(const SearchPath&) = delete;
  SearchPath& operator=(const SearchPath&) = delete;
  ~SearchPath() {
    ::unsetenv("TESSERA_PATH");  // NOLINT(concurrency-mt-unsafe)
  }
};

TEST(LoadModuleTest, KeepsTheLibraryWhileItsTesseractLives) {
  const auto loaded = load_module(kModules / "good.so");
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message();
  const std::shared_ptr<const TesseractDefinition>& tesseract = *loaded;
  EXPECT_EQ(tesseract->name(), "good");
  SilentContext context;
  EXPECT_EQ(tesseract->apply()({}, context)["greeting"].text(), std::string(100, 'g'));
}

TEST(LoadModuleTest, GivesEachCallerATesseractOfItsOwn) {
  auto first = load_module(kModules / "good.so");
  auto second = load_module(kModules / "good.so");
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_NE(first->get(), second->get());
  first->reset();
  SilentContext context;
  EXPECT_EQ((*second)->apply()({}, context).size(), 1U);
}

TEST(LoadModuleTest, SaysWhatIsNotThere) {
  const auto loaded = load_module(kModules / "nothing.so");
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(loaded.error().message().find("nothing.so"), std::string::npos);
}

TEST(LoadModuleTest, RefusesAFileThatIsNoLibrary) {
  const TempFolder folder;
  EXPECT_NE(refusal(folder.write("text.so", "no library")), "");
}

TEST(LoadModuleTest, RefusesALibraryThatIsNoModule) {
  EXPECT_NE(refusal(kModules / "no_symbol.so").find("no tessera module"), std::string::npos);
  EXPECT_NE(refusal(kModules / "other_magic.so").find("no tessera module"), std::string::npos);
}

TEST(LoadModuleTest, NamesBothLayoutsIfTheyDiffer) {
  const std::string text = refusal(kModules / "other_abi.so");
  EXPECT_NE(text.find("layout 99"), std::string::npos) << text;
  EXPECT_NE(text.find("layout " + std::to_string(kModuleAbi)), std::string::npos) << text;
}

TEST(LoadModuleTest, NamesBothVersionsIfTheHeadersDiffer) {
  const std::string text = refusal(kModules / "other_headers.so");
  EXPECT_NE(text.find("9.8.7"), std::string::npos) << text;
  EXPECT_NE(text.find("0123456789abcdef"), std::string::npos) << text;
  EXPECT_NE(text.find(TESSERA_VERSION), std::string::npos) << text;
  EXPECT_NE(text.find(TESSERA_HEADERS_HASH), std::string::npos) << text;
}

TEST(LoadModuleTest, SaysWhatItsAuthorDidWrong) {
  EXPECT_NE(refusal(kModules / "throwing.so").find("field 'x'"), std::string::npos);
  EXPECT_NE(refusal(kModules / "nameless.so").find("not a name"), std::string::npos);
}

TEST(FindModuleTest, SearchesTheFoldersOfTheVariableInOrder) {
  const TempFolder folder;
  folder.write("second/heat.so", "");
  folder.write("third/heat.so", "");
  const SearchPath path((folder.path() / "first").string() + ":" + (folder.path() / "second").string() + ":" +
                        (folder.path() / "third").string());
  const auto found = find_module("heat");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, folder.path() / "second/heat.so");
}

TEST(FindModuleTest, NamesTheFoldersThatItSearched) {
  const SearchPath path("/no/such/folder");
  const auto found = find_module("nobody");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(found.error().message().find("'nobody'"), std::string::npos);
  EXPECT_NE(found.error().message().find("/no/such/folder"), std::string::npos);
  EXPECT_NE(found.error().message().find("lib/tessera"), std::string::npos);
}

TEST(FindModuleTest, NeverSearchesTheCurrentFolder) {
  const TempFolder folder;
  folder.write("heat.so", "");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const SearchPath path(":");
  EXPECT_FALSE(find_module("heat").has_value());
  EXPECT_FALSE(find_module("").has_value());
  EXPECT_TRUE(find_module("./heat.so").has_value());
  fs::current_path(before);
}

TEST(FindModuleTest, TakesTheModuleOfAFolderByTheFoldersName) {
  const TempFolder folder;
  folder.write("heat/heat.so", "");
  folder.write("empty/other.so", "");
  const auto found = find_module((folder.path() / "heat").string() + "/");
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_EQ(*found, folder.path() / "heat/heat.so");
  EXPECT_FALSE(find_module((folder.path() / "empty").string()).has_value());
}

TEST(FindModuleTest, SaysHowToGetFromWhatIsThereToAModule) {
  const TempFolder folder;
  folder.write("heat/heat.so", "");
  folder.write("flow/flow.cpp", "");
  const auto refusal_of = [&folder](const std::string& name) {
    const auto found = find_module((folder.path() / name).string());
    return found.has_value() ? "" : found.error().message();
  };
  EXPECT_NE(refusal_of("heat/heat").find("; there is " + (folder.path() / "heat/heat.so").string()), std::string::npos);
  const std::string build = "`tessera build " + (folder.path() / "flow/flow.cpp").string() + "`";
  for (const char* name : {"flow", "flow/flow.so", "flow/flow.cpp"}) {
    EXPECT_NE(refusal_of(name).find(build), std::string::npos) << refusal_of(name);
  }
}

TEST(LoadModuleTest, RefusesALibraryThatIsCutAnywhere) {
  const TempFolder folder;
  const fs::path cut = folder.path() / "cut.so";
  const auto size = fs::file_size(kModules / "good.so");
  for (const auto kept : {std::uintmax_t{30}, std::uintmax_t{100}, size / 4, size / 2, size - 1}) {
    fs::copy_file(kModules / "good.so", cut, fs::copy_options::overwrite_existing);
    fs::resize_file(cut, kept);
    EXPECT_NE(refusal(cut).find("cut.so is cut short"), std::string::npos) << kept;
  }
}

TEST(ListModulesTest, ListsEachNameOnceFirstFoundFirst) {
  const TempFolder folder;
  folder.write("first/heat.so", "");
  folder.write("second/heat.so", "");
  folder.write("second/flow.so", "");
  folder.write("second/notes.txt", "");
  const SearchPath path((folder.path() / "first").string() + ":" + (folder.path() / "second").string());
  const std::vector<fs::path> modules = list_modules();
  ASSERT_GE(modules.size(), 2U);
  EXPECT_EQ(std::ranges::count(modules, folder.path() / "first/heat.so"), 1);
  EXPECT_EQ(std::ranges::count(modules, folder.path() / "second/flow.so"), 1);
  EXPECT_EQ(std::ranges::count(modules, folder.path() / "second/heat.so"), 0);
  EXPECT_EQ(std::ranges::count(modules, folder.path() / "second/notes.txt"), 0);
}

}  // namespace
}  // namespace tessera
