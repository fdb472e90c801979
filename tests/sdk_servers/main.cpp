// The tests, on servers that run already.
#include <gtest/gtest.h>

#include <cstdio>
#include <exception>

#include "given_servers.h"

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  try {
    tessera::testing::set_given_servers({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return RUN_ALL_TESTS();
}
