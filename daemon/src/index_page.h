// What GET / answers: which Tesseracts are served, for programs (JSON) and for people (HTML).
#pragma once

#include <string>
#include <vector>

namespace tessera {

/// One line of it. A plain value.
struct IndexEntry {
  std::string name;
  std::string version;
  std::string description;
  std::vector<std::string> endpoints;
};

[[nodiscard]] std::string index_json(const std::vector<IndexEntry>& entries);
[[nodiscard]] std::string index_html(const std::vector<IndexEntry>& entries);

}  // namespace tessera
