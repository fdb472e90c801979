#include "test_call.h"

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "answers.h"
#include "daemon_context.h"
#include "tessera/daemon/crash_notice.h"
#include "tessera/tesseract/test_spec.h"

namespace tessera {
namespace {

class TestCall final : public PendingCall {
 public:
  TestCall(const ServiceParts& parts, const ServedTesseract& tesseract, const Request& request,
           const RequestRecord& record, TestSpec spec)
      : parts_(parts), tesseract_(tesseract), request_(request), record_(record), spec_(std::move(spec)) {}

  void run() override {
    try {
      const CrashNote note({.tesseract = tesseract_.definition->name(),
                            .endpoint = name_of(record_.route().kind),
                            .output = "",
                            .run_folder = "",
                            .id = record_.id()});
      DaemonContext context(parts_, record_.id());
      outcome_ = run_test(*tesseract_.definition, spec_, tesseract_.arrays, context);
    } catch (...) {
      outcome_ = current_failure();
    }
  }

  Response finish() override {
    try {
      const auto* const failure = std::get_if<EndpointFailure>(&outcome_);
      return failure != nullptr ? record_.fail(*failure, request_.accept)
                                : json_answer(200, std::get<TestOutcome>(outcome_).to_json());
    } catch (...) {
      return record_.fail(current_failure(), request_.accept);
    }
  }

 private:
  const ServiceParts& parts_;
  const ServedTesseract& tesseract_;
  const Request& request_;
  RequestRecord record_;
  TestSpec spec_;
  std::variant<TestOutcome, EndpointFailure> outcome_;
};

}  // namespace

RefusalOrCall begin_test_call(const ServiceParts& parts, ServedTesseract& tesseract, const Request& request,
                              const RequestRecord& record) {
  if (std::optional<Response> refusal = refuse_content_type(request)) {
    return *std::move(refusal);
  }
  auto spec = request.body.read<TestSpec>([&](std::string_view text, const ArrivingText* arrived) {
    return read_test_spec(text, tesseract.arrays, {.depth = parts.options.nesting_depth, .arrived = arrived});
  });
  if (const auto* problems = std::get_if<std::vector<Problem>>(&spec)) {
    return json_answer(422, problems_to_json(*problems));
  }
  if (const auto* const fault = std::get_if<JsonFault>(&spec)) {
    return record.refuse_body(*fault);
  }
  return std::make_unique<TestCall>(parts, tesseract, request, record, std::get<TestSpec>(std::move(spec)));
}

}  // namespace tessera
