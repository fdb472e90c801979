#include "response_exports.h"

#include <string>
#include <utility>

#include "answers.h"

namespace tessera {
namespace {

Response later(std::string_view what) {
  Response response =
      detail_answer(503, std::string(what) + "; name what is done with in Tesseract-Exports-Done, or try again later");
  response.headers.emplace_back("retry-after", "1");
  return response;
}

}  // namespace

ResponseExports::~ResponseExports() {
  if (reserved_bytes_ > 0) {
    exchange_.registry().give_up(reserved_bytes_);
  }
}

Result<std::optional<std::string>> ResponseExports::write(const Array& array) {
  if (!is_negotiated_) {
    return std::optional<std::string>();
  }
  Result<ExportedArray> made = exchange_.transport()->export_array(array);
  if (!made) {
    if (made.error().code() == ErrorCode::kOutOfMemory &&
        exchange_.make_room_after_exhaustion(request_.exports_done.has_value())) {
      refusal_ = gpu_full();
      refused_by_ = Limit::kGpuMemory;
    }
    return made.error();
  }
  ExportedArray exported = *std::move(made);
  if (exported.owner) {
    if (!exchange_.registry().try_reserve(exported.pinned_bytes)) {
      const std::uint64_t needed_bytes = reserved_bytes_ + exported.pinned_bytes;
      const std::uint64_t limit_bytes = exchange_.export_limit_bytes();
      refusal_ = needed_bytes > limit_bytes ? exports_never_fit(needed_bytes, limit_bytes) : exports_full();
      refused_by_ = Limit::kExportBytes;
      return Error(ErrorCode::kUnavailable, "clients hold all the GPU memory that may be lent to them");
    }
    reserved_bytes_ += exported.pinned_bytes;
    owners_.push_back(std::move(exported.owner));
  }
  exported_bytes_ += array.size_bytes();
  ++(exported.is_staged ? staged_ : in_place_);
  return std::optional<std::string>(std::move(exported.reference));
}

Result<Array> ResponseExports::to_host(const Array& array) {
  ++through_host_;
  return exchange_.to_host(array);
}

std::string ResponseExports::ways() const {
  std::string text = "in_place=" + std::to_string(in_place_) + ", staged=" + std::to_string(staged_) +
                     ", through_host=" + std::to_string(through_host_);
  if (inputs_through_host_ > 0) {
    text += ", inputs_through_host=" + std::to_string(inputs_through_host_);
  }
  return text;
}

void ResponseExports::commit(Response& response, bool is_acknowledging) {
  if (in_place_ + staged_ + through_host_ + inputs_through_host_ > 0) {
    response.headers.emplace_back("tessera-gpu-arrays", ways());
  }
  if (owners_.empty()) {
    return;
  }
  auto owner = std::make_shared<std::vector<std::shared_ptr<void>>>(std::move(owners_));
  ExportRegistry& registry = exchange_.registry();
  const RandomId id = registry.put(std::move(owner), reserved_bytes_, is_acknowledging, request_.peer);
  reserved_bytes_ = 0;  // the lease has them, now that put() has not thrown
  try {
    response.headers.emplace_back("tesseract-exports", id.hex());
    response.when_not_sent = [&registry, id] { registry.release(id, LeaseEnd::kDropped); };
  } catch (...) {
    registry.release(id, LeaseEnd::kDropped);
    throw;
  }
}

Response exports_never_fit(std::uint64_t needed_bytes, std::uint64_t limit_bytes) {
  return detail_answer(503, "the answer needs " + std::to_string(needed_bytes) +
                                " bytes of GPU memory or more, but clients together may hold " +
                                std::to_string(limit_bytes) +
                                " (--max-export-bytes): it can never be lent; ask for host arrays");
}

Response exports_full() {
  return later("clients hold all the GPU memory that may be lent to them");
}

Response gpu_full() {
  return later("the GPU has no memory left, and clients hold some of it");
}

}  // namespace tessera
