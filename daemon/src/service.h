// Decides what a request is answered: routes, checks, negotiation, the call itself. Knows no sockets and no threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "limit_counters.h"
#include "request.h"
#include "request_report.h"
#include "tessera/base/clock.h"
#include "tessera/base/log.h"
#include "tessera/base/result.h"
#include "tessera/daemon/daemon.h"

namespace tessera {

/// A request that was accepted and needs a worker: everything that can be refused has been.
class PendingCall {
 public:
  PendingCall() = default;
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;
  virtual ~PendingCall() = default;

  /// Runs the endpoint; the caller holds a worker slot meanwhile. Once. Never throws.
  virtual void run() = 0;
  /// About how many bytes finish() will make, after run(); 0 if they are few, very many if it may wait for a GPU.
  /// Decides whether it needs a codec slot.
  [[nodiscard]] virtual std::uint64_t answer_bytes() const { return 0; }
  /// Encodes the answer, after run(), without the slot. Once. Never throws.
  [[nodiscard]] virtual Response finish() = 0;
};

/// A refusal, or any answer that needs no worker; or a call that waits for one.
using RefusalOrCall = std::variant<Response, std::unique_ptr<PendingCall>>;

/// Safe to call from any thread. Never throws.
class Service {
 public:
  /// Errors: kInvalidArgument (names that clash), kNotFound and others of the input and output folders.
  [[nodiscard]] static Result<std::unique_ptr<Service>> make(
      const DaemonOptions& options, std::vector<std::shared_ptr<const TesseractDefinition>> tesseracts, Logger& logger,
      const Clock& clock);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  /// Called once for each request whose head is good, before anything else is done with it: what it names done is given
  /// back, whatever becomes of the request. `head.body` is empty.
  virtual void head_arrived(const Request& /*head*/) {}

  /// Answers what is refused whatever its body (unknown route, wrong method), so that a large or awaited body need not
  /// be sent; nothing if the body must be read. `head.body` is empty.
  [[nodiscard]] virtual std::optional<Response> refuse_unread(const Request& /*head*/) { return std::nullopt; }

  /// Whether begin() may wait for a GPU, however small the body. Errs on the side of yes.
  [[nodiscard]] virtual bool may_wait_for_gpu(const Request& /*request*/) const { return false; }
  /// Answers what needs no worker (health, documents, refusals, metrics) and prepares what does. `request` and the
  /// memory that it borrows outlive the PendingCall.
  [[nodiscard]] virtual RefusalOrCall begin(const Request& request) = 0;

  /// Counts an answer that is about to be sent, whoever made it: one who has read it finds it counted.
  virtual void answering(const RequestReport& report) = 0;
  /// Counts the rest of a request that is over, answered or not, and logs it. Once for each.
  virtual void request_over(const RequestReport& report) = 0;
  /// Counts the limits that requests and connections hit.
  [[nodiscard]] virtual LimitCounters& limits() = 0;
  /// How many answers hold GPU memory that their clients still read and will name done: worth a moment at the end.
  [[nodiscard]] virtual std::uint64_t awaited_exports() const { return 0; }
  /// Removes run folders older than keep_runs; called from time to time. Returns whether to be called again soon, as
  /// there may be more than it removes at once.
  virtual bool remove_old_runs() = 0;

 protected:
  Service() = default;
};

}  // namespace tessera
