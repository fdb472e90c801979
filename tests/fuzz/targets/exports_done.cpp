// The lists of ids in Tesseract-Exports-Done: what is named ends, and nothing else.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "input.h"
#include "support/manual_clock.h"
#include "targets.h"
#include "tessera/export_registry/export_registry.h"

namespace tessera::fuzzing {
namespace {

constexpr std::size_t kLeases = 8;

}  // namespace

// Bytes from 0x80 on stand for the ids of the leases, which no input can know.
void fuzz_exports_done(std::string_view input) {
  const testing::ManualClock clock;
  ExportRegistry registry({}, clock);
  std::vector<std::string> ids;
  ids.reserve(kLeases);
  for (std::size_t i = 0; i < kLeases; ++i) {
    ids.push_back(registry.put(std::make_shared<int>(0), 1, true, "peer").hex());
  }
  std::string header;
  for (const char c : input) {
    const auto byte = static_cast<unsigned char>(c);
    header += byte < 0x80 ? std::string(1, c) : ids[byte % kLeases];
  }
  std::set<std::string> named;
  for (std::size_t begin = 0; begin <= header.size();) {
    const std::size_t end = std::min(header.find(',', begin), header.size());
    named.insert(header.substr(begin, end - begin));
    begin = end + 1;
  }
  std::size_t expected = 0;
  for (const std::string& id : ids) {
    expected += named.count(id);
  }
  require(registry.release_named(header) == expected, "what is named ends");
  require(registry.stats().leases == kLeases - expected, "what is not named stays");
}

}  // namespace tessera::fuzzing
