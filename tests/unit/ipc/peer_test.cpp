#include "tessera/ipc/peer.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace tessera {
namespace {

const Peer kPeer{.pid = 7, .pid_namespace = 4026531836, .boot_id = "one"};

TEST(PeerTest, DescribesThisProcess) {
  const Peer self = Peer::self();
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_NE(self.pid_namespace, 0U);
  EXPECT_EQ(self.boot_id.size(), 36U);
  EXPECT_EQ(self, Peer::self());
}

TEST(PeerTest, FindsNothingBetweenNeighbours) {
  Peer other = kPeer;
  EXPECT_FALSE(find_obstacle(kPeer, other));
  other.pid = 8;
  EXPECT_FALSE(find_obstacle(kPeer, other));
  other.pid_namespace = 1;
  EXPECT_FALSE(find_obstacle(kPeer, other));
}

TEST(PeerTest, SeesAnotherHost) {
  Peer other = kPeer;
  other.boot_id = "two";
  ASSERT_TRUE(find_obstacle(kPeer, other));
  EXPECT_EQ(find_obstacle(kPeer, other)->reason, TransportReason::kOtherHost);
}

TEST(PeerTest, SeesOneNumberInTwoNamespaces) {
  Peer other = kPeer;
  other.pid_namespace = 1;
  ASSERT_TRUE(find_obstacle(kPeer, other));
  EXPECT_EQ(find_obstacle(kPeer, other)->reason, TransportReason::kPidCollision);
}

TEST(PeerTest, TakesTheUnknownForEqual) {
  EXPECT_FALSE(find_obstacle(kPeer, Peer()));
  EXPECT_FALSE(find_obstacle(Peer(), kPeer));
  Peer other = kPeer;
  other.pid_namespace = 0;
  other.boot_id.clear();
  EXPECT_FALSE(find_obstacle(kPeer, other));
}

}  // namespace
}  // namespace tessera
