// A program in C++ that calls a Tesseract by the installed library: prints factor * x[0] of the Tesseract `scale`.
// Usage: call URL X FACTOR
#include <tessera/sdk/tesseract.h>

#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: call URL X FACTOR\n";
    return 2;
  }
  try {
    const auto tesseract = tessera::Tesseract::from_url(argv[1]);
    const auto fast = tesseract.with_encoding({.gpu_transport = tesseract.resolve_gpu_transport()});
    const auto x = tessera::Array::of<double>({std::atof(argv[2])});
    const tessera::Value result = fast.apply({{"x", x}, {"factor", std::atof(argv[3])}});
    std::cout << result.object().at("y").array().values<double>()[0] << '\n';
  } catch (const tessera::ClientError& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
