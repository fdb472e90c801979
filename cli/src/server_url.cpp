#include "server_url.h"

namespace tessera {

std::optional<std::string> without_last_name(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  while (url.ends_with('/')) {
    url.remove_suffix(1);
  }
  std::size_t path = 0;  // where it begins
  if (url.starts_with("unix:")) {
    const std::size_t colon = url.find(":/", 5);
    path = colon == std::string_view::npos ? colon : colon + 1;
  } else {
    const std::size_t scheme = url.find("://");
    path = url.find('/', scheme == std::string_view::npos ? 0 : scheme + 3);
  }
  if (path == std::string_view::npos || path >= url.size()) {
    return std::nullopt;
  }
  const std::size_t last = url.rfind('/');
  // With the path of a socket goes the colon before it.
  return std::string(url.substr(0, last == path && url.starts_with("unix:") ? last - 1 : last));
}

}  // namespace tessera
