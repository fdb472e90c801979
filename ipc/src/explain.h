// What goes wrong with CUDA IPC, in the words of TransportProblem.
#pragma once

#include <optional>
#include <string_view>

#include "tessera/base/result.h"
#include "tessera/ipc/gpu_system.h"
#include "tessera/ipc/transport_problem.h"

namespace tessera {

/// The messages of the check when the bytes are not those that were sent.
inline constexpr std::string_view kServerBytesDiffer =
    "the bytes read from the client's array differ from the ones it wrote";
inline constexpr std::string_view kClientBytesDiffer =
    "the bytes read from the server's array differ from the ones that the client sent, reversed";

/// Why no GPU here can take part, though the driver works; nothing if one can.
[[nodiscard]] std::optional<TransportProblem> find_platform_problem(const GpuSystem& gpus);
[[nodiscard]] TransportProblem explain_error(const Error& error, const GpuSystem& gpus);

}  // namespace tessera
