// The GPU arrays of one response: named to the client and kept for it, or copied to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu_exchange.h"
#include "limit_counters.h"
#include "request.h"
#include "tessera/array/device_array.h"
#include "tessera/base/random_id.h"

namespace tessera {

/// Keeps nothing until commit(); what is not committed is given up. One thread at a time.
class ResponseExports final : public DeviceArrayWriter {
 public:
  /// `is_negotiated`: the client takes references. `inputs_through_host`: how many arrays of the request were copied to
  /// the host. `exchange` and `request` outlive it.
  ResponseExports(GpuExchange& exchange, bool is_negotiated, const Request& request,
                  std::size_t inputs_through_host = 0)
      : exchange_(exchange),
        request_(request),
        is_negotiated_(is_negotiated),
        inputs_through_host_(inputs_through_host) {}
  ResponseExports(const ResponseExports&) = delete;
  ResponseExports& operator=(const ResponseExports&) = delete;
  ~ResponseExports() override;

  /// Errors: kUnavailable if clients hold as much as they may.
  [[nodiscard]] Result<std::optional<std::string>> write(const Array& array) override;
  [[nodiscard]] Result<Array> to_host(const Array& array) override;

  /// What to answer if write() found that clients hold as much as they may, or all that the GPU has; nothing if it did
  /// not.
  [[nodiscard]] std::optional<Response> take_refusal() { return std::exchange(refusal_, std::nullopt); }

  /// The limit behind that refusal.
  [[nodiscard]] Limit refused_by() const { return refused_by_; }
  /// Of the arrays that were written as references.
  [[nodiscard]] std::uint64_t exported_bytes() const { return exported_bytes_; }

  /// Leases what was written to the client, and adds the header that names it, and one that says which ways the arrays
  /// took. If the response cannot be sent, the lease ends at once.
  void commit(Response& response, bool is_acknowledging);

 private:
  [[nodiscard]] std::string ways() const;

  GpuExchange& exchange_;
  const Request& request_;
  bool is_negotiated_;
  std::optional<Response> refusal_;
  Limit refused_by_ = Limit::kNone;
  std::uint64_t exported_bytes_ = 0;
  std::vector<std::shared_ptr<void>> owners_;
  std::uint64_t reserved_bytes_ = 0;
  std::size_t in_place_ = 0;
  std::size_t staged_ = 0;
  std::size_t through_host_ = 0;
  std::size_t inputs_through_host_;
};

/// 503 for a client to which no more GPU memory can be lent for now.
[[nodiscard]] Response exports_full();

/// The same where they hold what the GPU lacks.
[[nodiscard]] Response gpu_full();
/// The same for an answer that would not fit if nobody held anything: no time to come back at.
[[nodiscard]] Response exports_never_fit(std::uint64_t needed_bytes, std::uint64_t limit_bytes);

}  // namespace tessera
