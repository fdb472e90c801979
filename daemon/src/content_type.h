// Whether a body is called JSON by its Content-Type (PROTOCOL.md section 2).
#pragma once

#include <optional>
#include <string_view>

namespace tessera {

/// True for `application/json` and `application/<anything>+json`, in any case, parameters ignored.
[[nodiscard]] bool is_called_json(std::optional<std::string_view> content_type);

}  // namespace tessera
