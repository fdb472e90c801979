// What tests of the client ask of the errors and warnings that they get.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/sdk/tesseract.h"

namespace tessera::testing {

/// The error that a call throws; a failure, and nothing, if it throws none.
template <class Call>
[[nodiscard]] std::optional<ClientError> error_of(Call&& call) {
  try {
    call();
  } catch (const ClientError& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return std::nullopt;
}

/// Expects that a call throws an error of this kind, whose text has this part.
template <class Call>
void expect_error(ClientError::Kind kind, std::string_view part, Call&& call) {
  if (const std::optional<ClientError> error = error_of(std::forward<Call>(call))) {
    EXPECT_EQ(static_cast<int>(error->kind()), static_cast<int>(kind)) << error->what();
    EXPECT_THAT(error->what(), ::testing::HasSubstr(std::string(part)));
  }
}

/// Collects what a client warns of. Outlives the client. Safe to use from any thread.
class Warnings {
 public:
  [[nodiscard]] std::function<void(std::string_view)> collector() {
    return [this](std::string_view sentence) {
      const std::lock_guard lock(mutex_);
      sentences_.emplace_back(sentence);
    };
  }
  [[nodiscard]] std::vector<std::string> sentences() const {
    const std::lock_guard lock(mutex_);
    return sentences_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> sentences_;
};

}  // namespace tessera::testing
