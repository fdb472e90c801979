#include "tessera/base/container.h"

#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace tessera {
namespace {

TEST(ContainerTest, IsKnownByTheFilesOfDockerPodmanAndKubernetes) {
  for (const char* mark : {".dockerenv", "run/.containerenv", "var/run/secrets/kubernetes.io/serviceaccount/token"}) {
    const testing::TempFolder root;
    EXPECT_FALSE(is_in_container(root.path()));
    root.write(mark, "");
    EXPECT_TRUE(is_in_container(root.path())) << mark;
  }
}

}  // namespace
}  // namespace tessera
