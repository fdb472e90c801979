#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <string>

#include "command.h"
#include "command_line.h"
#include "tessera/base/clock.h"
#include "tessera/daemon/gpu_report.h"
#include "tessera/ipc/gpu_system.h"
#include "tessera/ipc/gpu_transport.h"

namespace tessera {

ExitCode gpu_command(Arguments arguments) {
  CLI::App app("Says which GPUs this machine shows to tessera, and whether their arrays can be exchanged.",
               "tessera gpu");
  bool as_json = false;
  app.add_flag("--json", as_json, "Print JSON, as GET /gpu of a daemon has it");
  app.footer(
      "A running daemon says the same of itself under /gpu, and under /leases who holds how much GPU memory.\n"
      "Exit codes: 0 GPU arrays can be exchanged, 1 they cannot.\n\n"
      "Examples:\n  tessera gpu\n  tessera gpu --json\n  curl http://127.0.0.1:8000/gpu");
  if (!read_command_line(app, arguments)) {
    return ExitCode::kSuccess;
  }
  const SystemClock clock;
  const std::shared_ptr<GpuSystem> gpus = GpuSystem::open({}, clock);
  const std::unique_ptr<GpuTransport> transport = make_cuda_ipc(gpus);
  const GpuReport report = report_on(*gpus, *transport);
  std::cout << (as_json ? report.to_json() + "\n" : report.to_text());
  return report.works() ? ExitCode::kSuccess : ExitCode::kFailure;
}

}  // namespace tessera
