// Text that stands in HTML.
#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// `text` with the characters that mean something in HTML written as entities; fit for elements and quoted attributes.
[[nodiscard]] std::string html_escaped(std::string_view text);

/// The head of a page of ours up to `<body>`: title and style, nothing from elsewhere.
[[nodiscard]] std::string html_head(std::string_view title);

}  // namespace tessera
