#include "tessera/tesseract/endpoint_error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <new>
#include <string>
#include <system_error>

#include "tessera/array/value.h"

namespace tessera {
namespace {

EndpointFailure failure_of(const std::function<void()>& endpoint) {
  try {
    endpoint();
  } catch (...) {
    return current_failure();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

template <class Exception, class... Arguments>
std::string kind_of_thrown(Arguments... arguments) {
  return failure_of([&]() { throw Exception(arguments...); }).kind;
}

TEST(CurrentFailureTest, TranslatesStandardExceptionsToPythonsNames) {
  EXPECT_EQ(kind_of_thrown<std::invalid_argument>("x"), "ValueError");
  EXPECT_EQ(kind_of_thrown<std::domain_error>("x"), "ValueError");
  EXPECT_EQ(kind_of_thrown<std::length_error>("x"), "ValueError");
  EXPECT_EQ(kind_of_thrown<ValueError>("x"), "ValueError");
  EXPECT_EQ(kind_of_thrown<std::out_of_range>("x"), "IndexError");
  EXPECT_EQ(kind_of_thrown<std::overflow_error>("x"), "OverflowError");
  EXPECT_EQ(kind_of_thrown<std::bad_alloc>(), "MemoryError");
  EXPECT_EQ(kind_of_thrown<std::system_error>(std::make_error_code(std::errc::io_error)), "OSError");
  EXPECT_EQ(kind_of_thrown<std::filesystem::filesystem_error>("x", std::make_error_code(std::errc::io_error)),
            "OSError");
  EXPECT_EQ(kind_of_thrown<std::logic_error>("x"), "RuntimeError");
  EXPECT_EQ(kind_of_thrown<std::runtime_error>("x"), "RuntimeError");
}

TEST(CurrentFailureTest, KeepsTheTextOfTheException) {
  EXPECT_EQ(failure_of([]() { throw std::invalid_argument("the mesh is empty"); }).text, "the mesh is empty");
}

TEST(CurrentFailureTest, KeepsKindAndStatusOfAnEndpointError) {
  const EndpointFailure failure = failure_of([]() { throw EndpointError("KeyError", "no such part", 404); });
  EXPECT_EQ(failure.kind, "KeyError");
  EXPECT_EQ(failure.text, "no such part");
  EXPECT_EQ(failure.status, 404);
}

TEST(CurrentFailureTest, DropsAStatusThatIsNoError) {
  EXPECT_EQ(failure_of([]() { throw EndpointError("ValueError", "x", 200); }).status, std::nullopt);
  EXPECT_EQ(failure_of([]() { throw EndpointError("ValueError", "x", 600); }).status, std::nullopt);
}

TEST(CurrentFailureTest, TakesWhatIsNoException) {
  EXPECT_EQ(failure_of([]() { throw 7; }).kind, "RuntimeError");
}

TEST(CurrentFailureTest, TellsATextThatWasThrownAndTheTypeOfAnythingElse) {
  EXPECT_EQ(failure_of([]() { throw "the mesh is empty"; }).text, "the mesh is empty");
  EXPECT_EQ(failure_of([]() { throw std::string("the mesh is empty"); }).text, "the mesh is empty");
  EXPECT_EQ(failure_of([]() { throw 7; }).text, "an exception of type int");
}

TEST(IsKindOfTest, FollowsPythonsHierarchy) {
  EXPECT_TRUE(is_kind_of("ValueError", "ValueError"));
  EXPECT_TRUE(is_kind_of("ValueError", "Exception"));
  EXPECT_TRUE(is_kind_of("UnicodeDecodeError", "ValueError"));
  EXPECT_TRUE(is_kind_of("KeyError", "LookupError"));
  EXPECT_TRUE(is_kind_of("FileNotFoundError", "IOError"));
  EXPECT_TRUE(is_kind_of("ExceptionGroup", "Exception"));
  EXPECT_TRUE(is_kind_of("ExceptionGroup", "BaseExceptionGroup"));
}

TEST(IsKindOfTest, RefusesOtherBranches) {
  EXPECT_FALSE(is_kind_of("ValueError", "TypeError"));
  EXPECT_FALSE(is_kind_of("Exception", "ValueError"));
  EXPECT_FALSE(is_kind_of("KeyboardInterrupt", "Exception"));
}

TEST(IsKindOfTest, ComparesDottedNamesByTheirLastPart) {
  EXPECT_TRUE(is_kind_of("LinAlgError", "numpy.linalg.LinAlgError"));
  EXPECT_FALSE(is_kind_of("ValueError", "numpy.linalg.LinAlgError"));
}

TEST(IsKindOfTest, TakesUnknownClassesForExceptions) {
  EXPECT_TRUE(is_kind_of("MeshError", "Exception"));
  EXPECT_TRUE(is_kind_of("MeshError", "MeshError"));
  EXPECT_FALSE(is_kind_of("MeshError", "ValueError"));
}

TEST(IsBuiltinExceptionTest, KnowsPythonsOwn) {
  EXPECT_TRUE(is_builtin_exception("ZeroDivisionError"));
  EXPECT_TRUE(is_builtin_exception("EnvironmentError"));
  EXPECT_FALSE(is_builtin_exception("MeshError"));
  EXPECT_FALSE(is_builtin_exception(""));
}

}  // namespace
}  // namespace tessera
