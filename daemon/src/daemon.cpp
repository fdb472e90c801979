#include "tessera/daemon/daemon.h"

#include <string>
#include <utility>
#include <vector>

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

// What a browser or curl takes: a wildcard is no address, and IPv6 wants brackets.
std::string url_of(const DaemonOptions& options, std::uint16_t port) {
  std::string host = options.host;
  if (host == "0.0.0.0" || host == "::" || host.empty()) {
    host = "127.0.0.1";
  } else if (host.find(':') != std::string::npos) {
    host = "[" + host + "]";
  }
  return "http://" + host + ":" + std::to_string(port);
}

void log_where(Logger& logger, const DaemonOptions& options, std::uint16_t port,
               const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string path = "/" + name;
    if (options.serve_tcp) {
      const std::string url = url_of(options, port) + path;
      logger.info("serving", {{"name", name}, {"url", url}, {"docs", url + "/docs"}});
    } else {
      logger.info("serving", {{"name", name}, {"unix", options.unix_socket.value_or("").native()}, {"path", path}});
    }
  }
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::start(const DaemonOptions& options,
                                              std::vector<std::shared_ptr<const TesseractDefinition>> tesseracts,
                                              Logger& logger, const Clock& clock) {
  std::vector<std::string> names;
  names.reserve(tesseracts.size());
  for (const auto& tesseract : tesseracts) {
    names.push_back(tesseract->name());
  }
  TESSERA_ASSIGN_OR_RETURN(std::unique_ptr<Service> service,
                           Service::make(options, std::move(tesseracts), logger, clock));
  TESSERA_ASSIGN_OR_RETURN(std::unique_ptr<HttpServer> server, HttpServer::start(options, *service, logger, clock));
  log_where(logger, options, server->port(), names);
  return std::unique_ptr<Daemon>(std::make_unique<ServingDaemon>(std::move(service), std::move(server)));
}

}  // namespace tessera
