// What may name a field.
#pragma once

#include <string_view>

namespace tessera {

/// Whether a text is an identifier as Python has them; every character beyond ASCII counts as a letter.
[[nodiscard]] bool is_identifier(std::string_view name);

}  // namespace tessera
