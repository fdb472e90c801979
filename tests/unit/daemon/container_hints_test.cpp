#include "container_hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ContainerHintsTest, SayNothingOutsideOfContainers) {
  const testing::TempFolder root;
  EXPECT_THAT(container_hints(false, root.path()), IsEmpty());
}

TEST(ContainerHintsTest, SayWhatAPodOfKubernetesLacks) {
  const testing::TempFolder root;
  root.write("var/run/secrets/kubernetes.io/serviceaccount/token", "");
  EXPECT_THAT(container_hints(false, root.path()),
              ElementsAre(HasSubstr("no GPU device"), HasSubstr("hostPID"), HasSubstr("hostIPC")));
  EXPECT_THAT(container_hints(true, root.path()), ElementsAre(HasSubstr("hostPID"), HasSubstr("hostIPC")));
}

}  // namespace
}  // namespace tessera
