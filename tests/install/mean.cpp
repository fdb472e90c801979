// A program that uses arrays of the installed library: prints the mean of its arguments.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <span>
#include <vector>

#include "tessera/array/array.h"

int main(int argc, char** argv) {
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  std::vector<double> numbers;
  for (const char* const argument : arguments.subspan(1)) {
    numbers.push_back(std::strtod(argument, nullptr));
  }
  const auto count = static_cast<std::int64_t>(numbers.size());
  const tessera::Array array = tessera::Array::copy_of(std::span<const double>(numbers), {count});
  const std::span<const double> values = array.values<double>();
  std::cout << std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(array.size()) << '\n';
  return 0;
}
