#include "tessera/daemon/daemon.h"

#include <utility>

#include "http_server.h"
#include "service.h"

namespace tessera {
namespace {

class ServingDaemon final : public Daemon {
 public:
  ServingDaemon(std::unique_ptr<Service> service, std::unique_ptr<HttpServer> server)
      : service_(std::move(service)), server_(std::move(server)) {}

  [[nodiscard]] std::uint16_t port() const override { return server_->port(); }
  bool stop() override { return server_->stop(); }

 private:
  std::unique_ptr<Service> service_;
  std::unique_ptr<HttpServer> server_;  // destroyed first: its threads use the service
};

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::start(DaemonOptions options,
                                              std::vector<std::shared_ptr<const TesseractDefinition>> tesseracts,
                                              Logger& logger, const Clock& clock) {
  TESSERA_ASSIGN_OR_RETURN(std::unique_ptr<Service> service,
                           Service::make(options, std::move(tesseracts), logger, clock));
  TESSERA_ASSIGN_OR_RETURN(std::unique_ptr<HttpServer> server,
                           HttpServer::start(std::move(options), *service, logger, clock));
  return std::unique_ptr<Daemon>(std::make_unique<ServingDaemon>(std::move(service), std::move(server)));
}

}  // namespace tessera
