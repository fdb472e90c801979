// What the errors of a transport mean.
#include <gtest/gtest.h>

#include "ipc_test.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

class ExplainTest : public IpcTest {
 protected:
  [[nodiscard]] TransportReason reason_of(int code) const {
    return transport().explain(Error(ErrorCode::kInternal, "cuSomething failed", code)).reason;
  }
};

TEST_F(ExplainTest, TellsTheErrorsOfTheDriverApart) {
  EXPECT_EQ(reason_of(201), TransportReason::kPidCollision);
  EXPECT_EQ(reason_of(205), TransportReason::kMapFailed);
  EXPECT_EQ(reason_of(208), TransportReason::kMapFailed);
  EXPECT_EQ(reason_of(217), TransportReason::kNoPeerAccess);
  EXPECT_EQ(reason_of(711), TransportReason::kNoPeerAccess);
  EXPECT_EQ(reason_of(1), TransportReason::kHandleInvalid);
  EXPECT_EQ(reason_of(400), TransportReason::kHandleInvalid);
  EXPECT_EQ(reason_of(2), TransportReason::kOutOfMemory);
  EXPECT_EQ(reason_of(801), TransportReason::kIpcUnsupported);
  EXPECT_EQ(reason_of(800), TransportReason::kNoPermission);
  EXPECT_EQ(reason_of(46), TransportReason::kProhibitedMode);
  EXPECT_EQ(reason_of(3), TransportReason::kForked);
  EXPECT_EQ(reason_of(999), TransportReason::kCudaFailed);
  EXPECT_EQ(reason_of(700), TransportReason::kCudaFailed);
}

TEST_F(ExplainTest, SaysWhatHappenedAndWhatToDo) {
  const Error error(ErrorCode::kInternal, "cuIpcOpenMemHandle failed: CUDA_ERROR_INVALID_CONTEXT (201)", 201);
  EXPECT_THAT(transport().explain(error).sentence,
              ::testing::AllOf(HasSubstr("cuIpcOpenMemHandle failed"), HasSubstr("--pid=host")));
}

TEST_F(ExplainTest, TellsErrorsWithoutTheDriverApart) {
  EXPECT_EQ(transport().explain(Error(ErrorCode::kNotFound, "no GPU")).reason, TransportReason::kOtherGpu);
  EXPECT_EQ(transport().explain(Error(ErrorCode::kInvalidArgument, "bad")).reason, TransportReason::kHandleInvalid);
  EXPECT_EQ(transport().explain(Error(ErrorCode::kOutOfMemory, "full")).reason, TransportReason::kOutOfMemory);
  EXPECT_EQ(transport().explain(Error(ErrorCode::kInternal, "odd")).reason, TransportReason::kCudaFailed);
}

}  // namespace
}  // namespace tessera
