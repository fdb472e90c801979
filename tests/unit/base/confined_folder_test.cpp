#include "tessera/base/confined_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "open_beneath.h"
#include "support/temp_folder.h"
#include "tessera/base/file.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

// outside/secret, outside/inside/{file,sub/deep}; the confined folder is outside/inside.
class ConfinedFolderTest : public ::testing::Test {
 protected:
  ConfinedFolderTest() {
    outer_.write("secret", "secret");
    outer_.write("inside/file", "file");
    outer_.write("inside/sub/deep", "deep");
  }

  [[nodiscard]] fs::path inside() const { return outer_.path() / "inside"; }
  [[nodiscard]] ConfinedFolder folder() const { return ConfinedFolder::open(inside()).value(); }

  // The file's text, or the name of the error.
  [[nodiscard]] std::string opened(std::string_view name) const {
    const Result<UniqueFd> file = folder().open_file(name);
    if (!file) {
      return std::string(name_of(file.error().code()));
    }
    std::array<char, 100> text{};
    const std::size_t size = read_at(file->value(), 0, std::as_writable_bytes(std::span(text))).value();
    return {text.data(), size};
  }

  void link(const fs::path& target, const std::string& name) const { fs::create_symlink(target, inside() / name); }

  TempFolder outer_;
};

TEST_F(ConfinedFolderTest, OpensFilesInside) {
  EXPECT_EQ(opened("file"), "file");
  EXPECT_EQ(opened("sub/deep"), "deep");
  EXPECT_EQ(opened("./sub//deep"), "deep");
  EXPECT_EQ(opened("sub/../file"), "file");
}

TEST_F(ConfinedFolderTest, RefusesToLeave) {
  EXPECT_EQ(opened("../secret"), "invalid_argument");
  EXPECT_EQ(opened("sub/../../secret"), "invalid_argument");
  EXPECT_EQ(opened((outer_.path() / "secret").string()), "invalid_argument");
  EXPECT_EQ(opened(inside().string() + "/../secret"), "invalid_argument");
  EXPECT_EQ(opened("/etc/passwd"), "invalid_argument");
  EXPECT_EQ(opened("/"), "invalid_argument");
}

TEST_F(ConfinedFolderTest, DoesNotTakeNeighbourForInside) {
  outer_.write("inside-not/file", "other");
  EXPECT_EQ(opened(inside().string() + "-not/file"), "invalid_argument");
}

TEST_F(ConfinedFolderTest, OpensAbsoluteNamesInside) {
  EXPECT_EQ(opened((inside() / "sub" / "deep").string()), "deep");
  EXPECT_EQ(opened(inside().string() + "/../inside/file"), "file");
}

TEST_F(ConfinedFolderTest, OpensAbsoluteNamesSpelledThroughLink) {
  const fs::path alias = outer_.path() / "alias";
  fs::create_directory_symlink(inside(), alias);
  const Result<ConfinedFolder> folder = ConfinedFolder::open(alias);
  EXPECT_EQ(folder->path(), inside());
  EXPECT_TRUE(folder->open_file((alias / "sub" / "deep").string()).has_value());
  EXPECT_TRUE(folder->open_file((inside() / "file").string()).has_value());
}

TEST_F(ConfinedFolderTest, FollowsLinksThatStayInside) {
  link("sub/deep", "relative");
  link(inside() / "file", "absolute");
  link("sub", "folder");
  EXPECT_EQ(opened("relative"), "deep");
  EXPECT_EQ(opened("absolute"), "file");
  EXPECT_EQ(opened("folder/deep"), "deep");
}

TEST_F(ConfinedFolderTest, RefusesLinksThatLeave) {
  link("../secret", "relative");
  link(outer_.path() / "secret", "absolute");
  link("..", "folder");
  link("/proc/self/root/etc/passwd", "magic");
  EXPECT_EQ(opened("relative"), "invalid_argument");
  EXPECT_EQ(opened("absolute"), "invalid_argument");
  EXPECT_EQ(opened("folder/secret"), "invalid_argument");
  EXPECT_EQ(opened("magic"), "invalid_argument");
}

TEST_F(ConfinedFolderTest, RefusesLinkToItself) {
  link("loop", "loop");
  EXPECT_EQ(opened("loop"), "invalid_argument");
}

TEST_F(ConfinedFolderTest, TellsWhatIsMissing) {
  EXPECT_EQ(opened("none"), "not_found");
  EXPECT_EQ(opened("none/file"), "not_found");
  EXPECT_EQ(opened("file/below"), "not_found");
}

TEST_F(ConfinedFolderTest, OpensNothingButRegularFiles) {
  ASSERT_EQ(::mkfifo((inside() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(opened("pipe"), "invalid_argument");
  EXPECT_EQ(opened("sub"), "invalid_argument");
  EXPECT_EQ(opened(""), "invalid_argument");
  EXPECT_EQ(opened("."), "invalid_argument");
}

TEST_F(ConfinedFolderTest, RefusesNamesThatNoFileHas) {
  EXPECT_EQ(opened(std::string_view("file\0x", 6)), "invalid_argument");
  EXPECT_EQ(opened(std::string(5000, 'x')), "invalid_argument");
  EXPECT_EQ(opened("/" + std::string(100000, '/') + "x"), "invalid_argument");
}

TEST_F(ConfinedFolderTest, CreatesNewFileForReadingAndWriting) {
  const Result<UniqueFd> file = folder().create_file("sub/new");
  ASSERT_TRUE(file.has_value()) << file.error().message();
  ASSERT_TRUE(write_all(file->value(), std::as_bytes(std::span("text", 4))).has_value());
  EXPECT_EQ(outer_.read("inside/sub/new"), "text");
  EXPECT_EQ(opened("sub/new"), "text");
}

TEST_F(ConfinedFolderTest, CreatesNothingOverWhatIsThere) {
  link("nowhere", "dangling");
  EXPECT_EQ(folder().create_file("file").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(folder().create_file("dangling").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(folder().create_file("none/new").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(outer_.read("inside/file"), "file");
}

TEST_F(ConfinedFolderTest, CreatesNothingOutside) {
  link("..", "up");
  EXPECT_EQ(folder().create_file("../new").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(folder().create_file("up/new").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(folder().open_for_append("../new", false).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(folder().create_folders("../new").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(folder().create_folders("up/new").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(outer_.has("new"));
}

TEST_F(ConfinedFolderTest, DoesNotCreateThroughDanglingLinkThatLeaves) {
  link("../new", "dangling");
  EXPECT_FALSE(folder().open_for_append("dangling", false).has_value());
  EXPECT_FALSE(outer_.has("new"));
}

TEST_F(ConfinedFolderTest, AppendsOrTruncates) {
  const auto append = [this](bool truncate) {
    const Result<UniqueFd> file = folder().open_for_append("log", truncate);
    return file.has_value() && write_all(file->value(), std::as_bytes(std::span("ab", 2))).has_value();
  };
  ASSERT_TRUE(append(false));
  ASSERT_TRUE(append(false));
  EXPECT_EQ(opened("log"), "abab");
  ASSERT_TRUE(append(true));
  EXPECT_EQ(opened("log"), "ab");
}

TEST_F(ConfinedFolderTest, AppendsToRegularFilesAlone) {
  ASSERT_EQ(::mkfifo((inside() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(folder().open_for_append("pipe", true).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(folder().open_for_append("sub", false).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(ConfinedFolderTest, MakesFoldersWithTheirParents) {
  EXPECT_TRUE(folder().create_folders("a/b/c").has_value());
  EXPECT_TRUE(folder().create_folders("a/b/c").has_value());
  EXPECT_TRUE(folder().create_folders("sub/new/../other/").has_value());
  EXPECT_TRUE(folder().create_folders((inside() / "absolute" / "x").string()).has_value());
  EXPECT_TRUE(folder().create_folders("").has_value());
  EXPECT_TRUE(outer_.has("inside/a/b/c"));
  EXPECT_TRUE(outer_.has("inside/sub/other"));
  EXPECT_TRUE(outer_.has("inside/absolute/x"));
}

TEST_F(ConfinedFolderTest, MakesNoFolderOverFile) {
  EXPECT_EQ(folder().create_folders("file").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(folder().create_folders("file/below").error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(ConfinedFolderTest, RemovesFileOrLinkButNotItsTarget) {
  link("sub/deep", "link");
  EXPECT_TRUE(folder().remove_file("link").has_value());
  EXPECT_TRUE(folder().remove_file("file").has_value());
  EXPECT_TRUE(folder().remove_file("file").has_value());
  EXPECT_TRUE(folder().remove_file("none/file").has_value());
  EXPECT_FALSE(outer_.has("inside/link"));
  EXPECT_FALSE(outer_.has("inside/file"));
  EXPECT_TRUE(outer_.has("inside/sub/deep"));
}

TEST_F(ConfinedFolderTest, RemovesAFolderThatIsEmptyAndNoOther) {
  const ConfinedFolder folder = this->folder();
  ASSERT_TRUE(folder.create_folders("a/b"));
  EXPECT_EQ(folder.remove_folder("a").error().native_code(), ENOTEMPTY);
  EXPECT_TRUE(folder.remove_folder("a/b"));
  EXPECT_TRUE(folder.remove_folder("a/b"));
  EXPECT_TRUE(folder.remove_folder("a"));
  EXPECT_FALSE(folder.remove_folder("../elsewhere"));
}

TEST_F(ConfinedFolderTest, RemovesNothingOutsideAndNoFolder) {
  EXPECT_FALSE(folder().remove_file("../secret").has_value());
  EXPECT_FALSE(folder().remove_file("sub").has_value());
  EXPECT_FALSE(folder().remove_file("sub/..").has_value());
  EXPECT_TRUE(outer_.has("secret"));
  EXPECT_TRUE(outer_.has("inside/sub/deep"));
}

TEST_F(ConfinedFolderTest, NeedsFolderThatExists) {
  EXPECT_EQ(ConfinedFolder::open(inside() / "none").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(ConfinedFolder::open(inside() / "file").error().code(), ErrorCode::kInvalidArgument);
}

// What open_beneath does on a kernel without openat2(2).
class OpenByResolvingTest : public ConfinedFolderTest {
 protected:
  [[nodiscard]] int errno_of(const std::string& name, int flags = O_RDONLY) const {
    const UniqueFd root = UniqueFd::adopt(::open(inside().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    errno = 0;
    const UniqueFd file = open_beneath_by_resolving(root.value(), inside(), name, flags, 0644);
    return file.is_open() ? 0 : errno;
  }
};

TEST_F(OpenByResolvingTest, OpensInsideAlone) {
  link("../secret", "out");
  link(inside() / "sub", "in");
  EXPECT_EQ(errno_of("sub/deep"), 0);
  EXPECT_EQ(errno_of("in/../file"), 0);
  EXPECT_EQ(errno_of("in/deep"), 0);
  EXPECT_EQ(errno_of(".", O_PATH | O_DIRECTORY), 0);
  EXPECT_EQ(errno_of("out"), EXDEV);
  EXPECT_EQ(errno_of("../secret"), EXDEV);
  EXPECT_EQ(errno_of("none"), ENOENT);
}

TEST_F(OpenByResolvingTest, CreatesInsideAlone) {
  link("..", "up");
  EXPECT_EQ(errno_of("sub/new", O_RDWR | O_CREAT | O_EXCL), 0);
  EXPECT_EQ(errno_of("sub/new", O_RDWR | O_CREAT | O_EXCL), EEXIST);
  EXPECT_EQ(errno_of("up/new", O_RDWR | O_CREAT), EXDEV);
  EXPECT_EQ(errno_of("none/new", O_RDWR | O_CREAT), ENOENT);
  EXPECT_FALSE(outer_.has("new"));
}

TEST_F(ConfinedFolderTest, WritesAgainAfterItWasRemoved) {
  const ConfinedFolder kept = folder();
  fs::remove_all(inside());
  EXPECT_TRUE(kept.create_folders("run_1/logs").has_value());
  EXPECT_TRUE(kept.open_for_append("run_1/logs/log", true).has_value());
  EXPECT_TRUE(kept.create_file("run_1/array").has_value());
  EXPECT_TRUE(fs::exists(inside() / "run_1/array"));
}

TEST_F(ConfinedFolderTest, ReadsFromTheFolderThatTookItsPlace) {
  const ConfinedFolder kept = folder();
  fs::remove_all(inside());
  EXPECT_EQ(kept.open_file("new").error().code(), ErrorCode::kNotFound);
  EXPECT_FALSE(fs::exists(inside()));
  outer_.write("inside/new", "new");
  EXPECT_TRUE(kept.open_file("new").has_value());
}

TEST_F(ConfinedFolderTest, NeedNotBeThere) {
  const ConfinedFolder later = ConfinedFolder::at(outer_.path() / "later");
  EXPECT_EQ(later.open_file("file").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(later.open_file("../secret").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(fs::exists(outer_.path() / "later"));
  outer_.write("later/file", "text");
  EXPECT_TRUE(later.open_file("file").has_value());
  EXPECT_EQ(later.open_file("../secret").error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(ConfinedFolderTest, TellsReadersNothingOfItsPlace) {
  ASSERT_EQ(::mkfifo((inside() / "pipe").c_str(), 0600), 0);
  for (const std::string& name : {std::string("none"), std::string("file/"), std::string("sub"), std::string("pipe"),
                                  std::string("../secret"), std::string(5000, 'x')}) {
    const Result<UniqueFd> file = folder().open_file(name);
    ASSERT_FALSE(file.has_value()) << name;
    EXPECT_EQ(file.error().message().find(inside().string()), std::string::npos) << file.error().message();
  }
}

TEST_F(ConfinedFolderTest, TellsWritersWhere) {
  EXPECT_EQ(folder().create_file("none/new").error().message(),
            "no such file: 'none/new' in '" + inside().string() + "'");
}

TEST_F(ConfinedFolderTest, SaysThatAFileOnTheWayIsNotAFolder) {
  EXPECT_EQ(folder().open_file("file/").error().message(), "no such file: 'file/': a part of it is not a folder");
}

// Names that leave the folder, the first of each pair to what there is, the second to what there is not.
using Pair = std::pair<std::string, std::string>;

std::vector<Pair> pairs_outside(const fs::path& outer) {
  return {{"../secret", "../none"},
          {"../secret/", "../none/"},
          {"../secret/x", "../none/x"},
          {"sub/../../secret", "sub/../../none"},
          {"none/../../secret", "none/../../none"},
          {"../other/../inside/file", "../none/../inside/file"},
          {"folder/secret", "folder/none"},
          {"folder/other/../inside/file", "folder/none/../inside/file"},
          {"absolute/secret", "absolute/none"},
          {"relative", "dangling"},
          {"to_secret", "to_nothing"},
          {"to_relative", "to_dangling"},
          {(outer / "secret").string(), (outer / "none").string()},
          {(outer / "inside/../secret").string(), (outer / "inside/../none").string()},
          {(outer / "inside/folder/secret").string(), (outer / "inside/folder/none").string()}};
}

class NamesOutsideTest : public ConfinedFolderTest {
 protected:
  NamesOutsideTest() {
    outer_.write("other/file", "other");
    link("..", "folder");
    link(outer_.path(), "absolute");
    link("../secret", "relative");
    link("../none", "dangling");
    link(outer_.path() / "secret", "to_secret");
    link(outer_.path() / "none", "to_nothing");
    link("relative", "to_relative");
    link("dangling", "to_dangling");
  }
};

TEST_F(NamesOutsideTest, GetOneAnswerWhetherThereOrNot) {
  for (const auto& [there, missing] : pairs_outside(outer_.path())) {
    EXPECT_EQ(folder().open_file(there).error().message(), "path '" + there + "' leaves its folder");
    EXPECT_EQ(folder().open_file(missing).error().message(), "path '" + missing + "' leaves its folder");
  }
}

TEST_F(NamesOutsideTest, DoNotMatterToAbsoluteNamesThatComeBackAsTexts) {
  EXPECT_EQ(opened((outer_.path() / "other/../inside/file").string()), "file");
  EXPECT_EQ(opened((outer_.path() / "none/../inside/file").string()), "file");
}

TEST_F(NamesOutsideTest, GetOneAnswerWithoutTheKernelsHelp) {
  const UniqueFd root = UniqueFd::adopt(::open(inside().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const auto& [there, missing] : pairs_outside(outer_.path())) {
    if (there.starts_with('/') || there.starts_with("none")) {
      continue;  // judged before they come here
    }
    EXPECT_FALSE(open_beneath_by_resolving(root.value(), inside(), there, O_RDONLY, 0).is_open());
    EXPECT_EQ(errno, EXDEV) << there;
    EXPECT_FALSE(open_beneath_by_resolving(root.value(), inside(), missing, O_RDONLY, 0).is_open());
    EXPECT_EQ(errno, EXDEV) << missing;
  }
}

TEST_F(NamesOutsideTest, AreNotNamesThroughAbsoluteLinksToTheInside) {
  link(inside() / "sub", "back");
  EXPECT_EQ(opened("back/deep"), "deep");
  EXPECT_EQ(opened("back/none"), "not_found");
}

}  // namespace
}  // namespace tessera
