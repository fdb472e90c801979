#include "tessera/base/library.h"

#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace tessera {
namespace {

TEST(LibraryTest, FindsSymbolsOfOpenLibrary) {
  const Result<Library> library = Library::open("libm.so.6");
  ASSERT_TRUE(library.has_value()) << library.error().message();
  EXPECT_NE(library->find_symbol("cos"), nullptr);
  EXPECT_EQ(library->find_symbol("tessera_no_such_symbol"), nullptr);
  EXPECT_EQ(library->path().filename(), "libm.so.6");
}

TEST(LibraryTest, TellsMissingLibrary) {
  EXPECT_EQ(Library::open("libtessera_none.so.9").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Library::open("/none/libx.so").error().code(), ErrorCode::kNotFound);
}

TEST(LibraryTest, RefusesFileThatIsNoLibrary) {
  const testing::TempFolder folder;
  const Result<Library> library = Library::open(folder.write("text.so", "not a library"));
  ASSERT_FALSE(library.has_value());
  EXPECT_EQ(library.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(library.error().message().find("text.so"), std::string::npos);
}

TEST(LibraryTest, RefusesNamesThatMeanTheProgram) {
  EXPECT_EQ(Library::open("").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Library::open(std::string("libm.so.6\0x", 11)).error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace tessera
