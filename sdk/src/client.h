// What all views of one client share: connections, what is known of the server, exports, GPUs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "client_gpu.h"
#include "finished_exports.h"
#include "http_client.h"
#include "server_document.h"
#include "shared_inputs.h"
#include "tessera/array/encoding.h"
#include "tessera/array/value.h"
#include "tessera/base/confined_folder.h"
#include "tessera/base/fork_safe_mutex.h"
#include "tessera/base/mutex.h"
#include "tessera/sdk/tesseract.h"

namespace tessera {

/// Safe to use from any thread. Every member throws ClientError.
struct Tesseract::Client {
 public:
  Client(ServerAddress address, ClientOptions options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  [[nodiscard]] const std::string& url() const { return http_->address().text; }
  /// Fetched at the first call.
  [[nodiscard]] const ServerDocument& document(const CallOptions& call = {});
  /// Calls a compute route; `payload` is the body.
  [[nodiscard]] Value compute(std::string_view endpoint, const Object& payload, const RequestedEncoding& encoding,
                              const CallOptions& call);
  /// Calls another route; arrays of the answer stay objects. Without a payload it is a GET.
  [[nodiscard]] Value call_plain(std::string_view endpoint, const Object* payload, const CallOptions& call);
  /// Sends a text as it is, and gives that of the answer; without a text it is a GET. Routes that compute are asked for
  /// an encoding, without a GPU transport.
  [[nodiscard]] std::string call_text(std::string_view endpoint, std::optional<std::string_view> body,
                                      const RequestedEncoding& encoding, const CallOptions& call);
  /// Refuses what the server does not accept, and says what it may ignore.
  void check_encoding(const RequestedEncoding& requested);
  [[nodiscard]] std::string resolve_gpu_transport(const RequestedEncoding& encoding);
  void close() noexcept;

 private:
  /// Whether a transport works; if not, why.
  struct CheckResult {
    bool works = false;
    std::string reason;
  };

  [[nodiscard]] HttpResponse send(HttpRequest request, const CallLimits& limits);
  [[nodiscard]] CallLimits limits_of(const CallOptions& call) const;
  [[nodiscard]] ClientGpu& gpu();
  [[nodiscard]] CheckResult check_transport(const std::string& name);
  [[nodiscard]] CheckResult run_check();
  // Held while a check runs, so that there is one of each kind; not check_mutex_, since a check waits for the server.
  [[nodiscard]] std::shared_ptr<Mutex> check_turn();
  // What is known, or else what `find` finds out and makes known, one thread at a time.
  template <class Known, class Find>
  [[nodiscard]] std::invoke_result_t<Find> known_or_found(Known known, Find find);
  // Whether the server reads the files that this process writes; asked once, and warned of.
  [[nodiscard]] bool shares_inputs(const CallOptions& call);
  [[nodiscard]] CheckResult check_shared_inputs(const CallOptions& call);
  // Drops the files, and sends no array by them, if they cannot be written.
  [[nodiscard]] Body body_of(const Object& payload, const Encoding& encoding, RequestExports& exports,
                             std::unique_ptr<BinrefWriter>& files);
  // A request to a compute route, but for its body.
  [[nodiscard]] static HttpRequest compute_request(std::string_view endpoint, const RequestedEncoding& asked,
                                                   const CallOptions& call);
  [[nodiscard]] Value decode(std::string_view endpoint, HttpResponse response);
  void warn(const std::string& sentence) const;
  [[nodiscard]] bool is_first_warning(const std::string& subject);

  ClientOptions options_;
  std::shared_ptr<HttpClient> http_;
  std::shared_ptr<FinishedExports> exports_;
  std::optional<ConfinedFolder> output_folder_;
  std::unique_ptr<SharedInputs> inputs_;  // where files are to be shared

  ForkSafeMutex mutex_;
  std::unique_ptr<const ServerDocument> document_ TESSERA_GUARDED_BY(mutex_);
  std::unique_ptr<ClientGpu> gpu_ TESSERA_GUARDED_BY(mutex_);
  ForkSafeMutex check_mutex_;
  std::map<std::string, CheckResult, std::less<>> checks_ TESSERA_GUARDED_BY(check_mutex_);
  std::shared_ptr<Mutex> check_turn_ TESSERA_GUARDED_BY(check_mutex_);
  pid_t checking_process_ TESSERA_GUARDED_BY(check_mutex_) = 0;  // whose checks these are
  std::optional<bool> shares_inputs_ TESSERA_GUARDED_BY(check_mutex_);
  std::set<std::string, std::less<>> warned_ TESSERA_GUARDED_BY(check_mutex_);
};

}  // namespace tessera
