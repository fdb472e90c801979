#include "tessera/ipc/transport_check.h"

#include <gtest/gtest.h>

#include <string>

#include "ipc_test.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class TransportCheckTest : public TwoProcessTest {
 protected:
  [[nodiscard]] TransportCheck start() const {
    return TransportCheck::start(system(), transport(), gpu()->uuid()).value();
  }
  static std::string hex(std::span<const std::byte> bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
      text += kDigits[std::to_integer<unsigned>(byte) / 16];
      text += kDigits[std::to_integer<unsigned>(byte) % 16];
    }
    return text;
  }
};

TEST_F(TransportCheckTest, GoesThereAndBack) {
  const TransportCheck check = start();
  const std::string reply = ask("check " + check.reference() + ' ' + hex(check.expected()));
  const Status done = check.finish(reply);
  EXPECT_TRUE(done.has_value()) << reply;
}

TEST_F(TransportCheckTest, SendsOtherBytesEachTime) {
  EXPECT_NE(hex(start().expected()), hex(start().expected()));
}

TEST_F(TransportCheckTest, FailsIfTheServerReadsOtherBytes) {
  const TransportCheck check = start();
  const std::string reply = ask("check " + check.reference() + ' ' + std::string(512, '0'));
  EXPECT_EQ(reply, "error 0 the bytes read from the client's array differ from the ones it wrote");
}

TEST_F(TransportCheckTest, FailsIfTheExpectedBytesAreFewer) {
  const TransportCheck check = start();
  EXPECT_THAT(ask("check " + check.reference() + " 00"), HasSubstr("differ"));
}

TEST_F(TransportCheckTest, FailsIfTheClientReadsOtherBytes) {
  const TransportCheck check = start();
  const Status done = check.finish(ask("export 256 1"));
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(transport().explain(done.error()).reason, TransportReason::kWrongBytes);
}

TEST_F(TransportCheckTest, FailsIfTheBytesComeBackAsTheyWere) {
  const TransportCheck check = start();
  const Array echo =
      system()
          .to_device(Array::copy_of(std::span(reinterpret_cast<const std::uint8_t*>(check.expected().data()),
                                              check.expected().size()),
                                    Shape{256}),
                     gpu()->uuid())
          .value();
  const ExportedArray exported = this->exported(echo);
  EXPECT_FALSE(check.finish(exported.reference).has_value());
}

TEST_F(TransportCheckTest, FailsIfTheServerCannotOpenTheArray) {
  TransportCheck check = start();
  const std::string& reference = check.reference();
  const std::string expected = hex(check.expected());
  CudaIpcDescriptor descriptor = CudaIpcDescriptor::parse(reference).value();
  descriptor.handle->bytes.fill(std::byte{7});
  EXPECT_THAT(ask("check " + descriptor.text() + ' ' + expected), StartsWith("error 1 cuIpcOpenMemHandle failed"));
}

TEST_F(TransportCheckTest, GoesThereAndBackInOneProcess) {
  const TransportCheck check = start();
  const Array reply = answer_check(system(), transport(), check.reference(), check.expected()).value();
  EXPECT_EQ(reply.device()->gpu(), gpu()->uuid());
  const ExportedArray exported = this->exported(reply);
  EXPECT_TRUE(check.finish(exported.reference).has_value());
  // A check is no copy that an operator would want to know of.
  EXPECT_EQ(system().counters().copies_to_host, 0U);
}

TEST_F(TransportCheckTest, NeedsAGpuThatIsHere) {
  EXPECT_EQ(TransportCheck::start(system(), transport(), Uuid()).error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace tessera
