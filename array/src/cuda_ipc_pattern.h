// The form of a cuda_ipc buffer (PROTOCOL.md section 5.5); what it names is for others to find out.
#pragma once

#include <string_view>

namespace tessera {

/// Whether the text is `<uuid>:<base64>:<digits>:<digits>`, the UUID in lower case and without prefix.
[[nodiscard]] bool is_cuda_ipc_buffer(std::string_view text);

}  // namespace tessera
