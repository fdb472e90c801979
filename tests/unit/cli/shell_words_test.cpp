#include "shell_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

TEST(ShellWordsTest, SplitsAtBlanks) {
  EXPECT_THAT(split_shell_words("  -O3 \t-g\n"), Optional(ElementsAre("-O3", "-g")));
  EXPECT_THAT(split_shell_words(" "), Optional(IsEmpty()));
}

TEST(ShellWordsTest, KeepsWhatIsInQuotesTogether) {
  EXPECT_THAT(split_shell_words(R"(-DY="q r" '-DZ=a "b"' x"1 "'2 '3 "")"),
              Optional(ElementsAre("-DY=q r", R"(-DZ=a "b")", "x1 2 3", "")));
}

TEST(ShellWordsTest, TakesTheCharacterBehindABackslashAsItIs) {
  EXPECT_THAT(split_shell_words(R"(-DY=\"q\ r\" "a\"\n" 'b\')"),
              Optional(ElementsAre(R"(-DY="q r")", R"(a"\n)", R"(b\)")));
}

TEST(ShellWordsTest, RefusesAQuoteThatIsNotClosed) {
  EXPECT_EQ(split_shell_words("-DY=\"q"), std::nullopt);
  EXPECT_EQ(split_shell_words("it's"), std::nullopt);
}

}  // namespace
}  // namespace tessera
