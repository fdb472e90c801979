#include "endpoint_call.h"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "answers.h"
#include "daemon_context.h"
#include "request_target.h"
#include "response_exports.h"
#include "tessera/array/value_writer.h"
#include "tessera/daemon/crash_notice.h"
#include "tessera/daemon/output_capture.h"
#include "tessera/daemon/run.h"
#include "tessera/tesseract/call.h"

namespace tessera {
namespace {

/// The run that a call of a compute route belongs to.
struct CallRun {
  std::optional<std::string> run_id;  // that the client chose
  std::string folder;
  std::unique_ptr<Run> run;
  Encoding encoding;
};

/// Whether links on the way make a folder lie elsewhere.
bool leads_out_of(const std::filesystem::path& root, const std::string& folder) {
  std::error_code fault;
  const std::filesystem::path target = std::filesystem::weakly_canonical(root / folder, fault);
  return !fault && *target.lexically_relative(root).begin() == "..";
}

/// What the client's choice of a run has to do with it that its folder cannot be made; nothing if it has not: a disk
/// that cannot be written is not its fault.
std::optional<std::string> fault_of_run_id(const Error& error, const std::filesystem::path& root,
                                           const std::string& folder) {
  if (error.native_code() == ENOTDIR) {
    return "run_id needs a folder where a file is in the way";
  }
  if (error.native_code() == EISDIR) {
    return "run_id needs a file where a folder is in the way";
  }
  return leads_out_of(root, folder) ? std::optional<std::string>("run_id must not lead out of its folder")
                                    : std::nullopt;
}

/// How large the parts of a value are. A plain value.
struct ValueSize {
  /// The bytes of all arrays and texts, and a few for each number. An array on a GPU counts as a terabyte: it may have
  /// to be copied first.
  std::uint64_t work_bytes = 0;
  std::uint64_t array_bytes = 0;
};

void add_size(ValueSize& size, const Value& value) {
  constexpr std::uint64_t kNumberBytes = 8;
  constexpr std::uint64_t kGpuArrayBytes = std::uint64_t{1} << 40;
  size.work_bytes += kNumberBytes;
  switch (value.kind()) {
    case Value::Kind::kArray:
      size.work_bytes += value.array().is_on_device() ? kGpuArrayBytes : value.array().size_bytes();
      size.array_bytes += value.array().size_bytes();
      break;
    case Value::Kind::kText:
      size.work_bytes += value.text().size();
      break;
    case Value::Kind::kList:
      for (const Value& item : value.list()) {
        add_size(size, item);
      }
      break;
    case Value::Kind::kObject:
      for (const Object::Member& member : value.object().members()) {
        add_size(size, member.value);
      }
      break;
    default:
      break;
  }
}

ArrayEncoding array_encoding_of(const Encoding& encoding) {
  const bool is_compressed = encoding.compression == Compression::kLz4;
  switch (encoding.format) {
    case OutputFormat::kBase64:
      return is_compressed ? ArrayEncoding::kBase64Lz4 : ArrayEncoding::kBase64;
    case OutputFormat::kBinref:
      return is_compressed ? ArrayEncoding::kBinrefLz4 : ArrayEncoding::kBinref;
    case OutputFormat::kJson:
      break;
  }
  return ArrayEncoding::kJson;
}

class EndpointCall final : public PendingCall {
 public:
  /// Without a run (abstract_eval) the answer is plain JSON.
  EndpointCall(const ServiceParts& parts, ServedTesseract& tesseract, const Request& request,
               const RequestRecord& record, Call call, std::unique_ptr<CallRun> run, std::size_t inputs_through_host)
      : parts_(parts),
        tesseract_(tesseract),
        request_(request),
        record_(record),
        call_(std::move(call)),
        run_(std::move(run)),
        inputs_through_host_(inputs_through_host),
        is_kept_(run_ && parts.options.keep_runs) {
    if (is_kept_) {
      tesseract_.runs.begin(run_->folder);
    }
  }

  ~EndpointCall() override {
    if (is_kept_) {
      tesseract_.runs.end(run_->folder);
    }
  }

  void run() override {
    if (run_ && !request_.exports_done) {
      parts_.gpu.supersede();
    }
    const std::uint64_t exhaustions = parts_.gpu.exhaustions();
    try {
      outcome_ = run_ ? run_in_folder() : run_without_folder();
    } catch (...) {
      outcome_ = current_failure();
    }
    // With several workers it may have been another call's: then this one fails again when it is sent again.
    if (std::holds_alternative<EndpointFailure>(outcome_) && parts_.gpu.exhaustions() != exhaustions) {
      refuse_if_lent();
    }
    call_ = Call{};  // the inputs' memory is not needed while the answer is sent
    const Object* const result = std::get_if<Object>(&outcome_);
    if (run_ && result != nullptr) {
      for (const Object::Member& member : result->members()) {
        add_size(answer_size_, member.value);
      }
    }
  }

  [[nodiscard]] std::uint64_t answer_bytes() const override { return answer_size_.work_bytes; }

  Response finish() override {
    Response response;
    try {
      response = make_answer();
    } catch (...) {
      response = record_.fail(current_failure(), request_.accept);
    }
    // Made for an answer that there is not. One that the client chose is always there.
    if (run_ && !run_->run_id && response.status != 200) {
      run_->run->remove_empty_folder();
    }
    return response;
  }

 private:
  /// An Error: its files cannot be written.
  using Outcome = std::variant<Object, EndpointFailure, Response, Error>;

  static Outcome outcome_of(std::variant<Object, EndpointFailure> result) {
    return std::visit([](auto&& either) -> Outcome { return std::forward<decltype(either)>(either); },
                      std::move(result));
  }

  void refuse_if_lent() {
    if (parts_.gpu.make_room_after_exhaustion(request_.exports_done.has_value())) {
      parts_.logger.warning("a call failed as a GPU had no memory left, some of which clients hold",
                            {{"text", std::get<EndpointFailure>(outcome_).text}, {"id", record_.id()}});
      record_.hit(Limit::kGpuMemory);
      outcome_ = gpu_full();
    }
  }

  Outcome run_without_folder() {
    const CrashNote note({.tesseract = tesseract_.definition->name(),
                          .endpoint = name_of(call_.endpoint),
                          .output = "",
                          .run_folder = "",
                          .id = record_.id()});
    DaemonContext context(parts_, record_.id());
    return outcome_of(run_call(*tesseract_.definition, call_, context, true));
  }

  Outcome run_in_folder() {
    const CrashNote note({.tesseract = tesseract_.definition->name(),
                          .endpoint = name_of(call_.endpoint),
                          .output = tesseract_.output.path().native(),
                          .run_folder = run_->folder,
                          .id = record_.id()});
    if (run_->run_id) {
      if (const Status made = run_->run->make_folder(); !made) {
        if (const auto fault = fault_of_run_id(made.error(), tesseract_.output.path(), run_->folder)) {
          return bad_run_id(run_->run_id.value_or(""), *fault);
        }
        return made.error();
      }
    }
    const std::unique_ptr<OutputCapture> capture = start_capture();
    Outcome outcome = outcome_of(run_call(*tesseract_.definition, call_, *run_->run, false));
    if (const Status ended = capture ? capture->end() : Status(); !ended) {
      // Whatever a full disk makes of the log, the call itself is not undone.
      parts_.logger.warning("what a call printed is lost", {{"reason", ended.error().message()}, {"id", record_.id()}});
    }
    return outcome;
  }

  /// With several workers the descriptors cannot tell whose output it is, and are left alone.
  std::unique_ptr<OutputCapture> start_capture() {
    if (parts_.options.workers != 1) {
      return nullptr;
    }
    Result<std::unique_ptr<OutputCapture>> capture = parts_.output.capture(*run_->run, OutputCapture::Target::kRunLog);
    if (!capture) {
      parts_.logger.warning("output of a call is not captured",
                            {{"reason", capture.error().message()}, {"id", record_.id()}});
      return nullptr;
    }
    return std::move(capture).value();
  }

  Response make_answer() {
    if (auto* const refusal = std::get_if<Response>(&outcome_)) {
      return std::move(*refusal);
    }
    if (const EndpointFailure* failure = std::get_if<EndpointFailure>(&outcome_)) {
      return record_.fail(*failure, request_.accept);
    }
    if (const Error* error = std::get_if<Error>(&outcome_)) {
      return record_.fail_to_write(*error, request_.accept);
    }
    const Value result(std::move(std::get<Object>(outcome_)));
    const Encoding encoding = run_ ? run_->encoding : Encoding{};
    std::optional<BinrefWriter> files;
    if (encoding.format == OutputFormat::kBinref) {
      files.emplace(tesseract_.output, run_->folder, [this] { return run_->run->make_folder(); }, &tesseract_.prepared);
    }
    ResponseExports exports(parts_.gpu, encoding.gpu_transport != "none", request_, inputs_through_host_);
    Response response;
    response.content_type = media_type_of(encoding.format);
    const ArrayWriters writers{.files = files ? &*files : nullptr, .device = &exports};
    if (const Status written = write_value(result, encoding, writers, response.body); !written) {
      std::optional<Response> refusal = exports.take_refusal();
      if (!refusal) {
        return record_.fail_to_write(written.error(), request_.accept);
      }
      record_.hit(exports.refused_by());
      return *std::move(refusal);
    }
    if (files) {
      files->commit();
    }
    count_arrays(exports, encoding);
    exports.commit(response, request_.exports_done.has_value());
    return response;
  }

  void count_arrays(const ResponseExports& exports, const Encoding& encoding) const {
    if (ArrayTally* const tally = record_.arrays_out()) {
      tally->add(ArrayEncoding::kCudaIpc, exports.exported_bytes());
      tally->add(array_encoding_of(encoding), answer_size_.array_bytes - exports.exported_bytes());
    }
  }

  const ServiceParts& parts_;
  ServedTesseract& tesseract_;
  const Request& request_;
  RequestRecord record_;
  Call call_;
  std::unique_ptr<CallRun> run_;
  std::size_t inputs_through_host_;
  bool is_kept_;
  Outcome outcome_;
  ValueSize answer_size_;
};

/// The run that a request asks for, or why it cannot be had.
std::variant<Response, std::unique_ptr<CallRun>> run_for(const ServiceParts& parts, const ServedTesseract& tesseract,
                                                         const Request& request, const RequestRecord& record) {
  auto run = std::make_unique<CallRun>();
  run->run_id = find_parameter(split_target(request.target).query, "run_id");
  Result<std::string> folder = Run::folder_name(run->run_id);
  if (!folder) {
    return bad_run_id(run->run_id.value_or(""), folder.error().message());
  }
  std::optional<Encoding> encoding = negotiate(request.accept, parts.offer);
  if (!encoding) {
    return json_answer(406, not_acceptable_body(request.accept.value_or(""), parts.offer));
  }
  if (encoding->gpu_transport != "none" && !parts.gpu.has_room()) {
    // A client that names nothing is not kept out by what it was lent itself.
    if (!request.exports_done) {
      parts.gpu.supersede();
    }
    if (!parts.gpu.has_room()) {
      record.hit(Limit::kExportBytes);
      return exports_full();
    }
  }
  run->encoding = *std::move(encoding);
  run->folder = *folder;
  run->run = Run::make(tesseract.output, *std::move(folder), parts.clock, [&gpu = parts.gpu] { return gpu.gpus(); });
  return run;
}

}  // namespace

RefusalOrCall begin_endpoint_call(const ServiceParts& parts, ServedTesseract& tesseract, const Request& request,
                                  const RequestRecord& record) {
  if (std::optional<Response> refusal = refuse_content_type(request)) {
    return *std::move(refusal);
  }
  const Endpoint endpoint = endpoint_of(record.route().kind).value_or(Endpoint::kApply);
  DeviceInputs device_inputs(parts.gpu, !tesseract.definition->does_take_device_arrays());
  CallOrFault read = request.body.read<Call>([&](std::string_view text, const ArrivingText* arrived) {
    device_inputs.begin_again();
    if (record.arrays_in() != nullptr) {
      *record.arrays_in() = {};
    }
    return read_call(*tesseract.definition, endpoint, text, tesseract.reader(device_inputs, record.arrays_in()),
                     {.depth = parts.options.nesting_depth, .arrived = arrived});
  });
  if (device_inputs.is_gpu_full() && parts.gpu.make_room_after_exhaustion(request.exports_done.has_value())) {
    record.hit(Limit::kGpuMemory);
    return gpu_full();
  }
  if (const auto* problems = std::get_if<std::vector<Problem>>(&read)) {
    if (record.arrays_in() != nullptr && record.arrays_in()->is_over_limit) {
      record.hit(Limit::kArrayBytes);
    }
    return json_answer(422, problems_to_json(*problems));
  }
  if (const auto* const fault = std::get_if<JsonFault>(&read)) {
    return record.refuse_body(*fault);
  }
  Call& call = std::get<Call>(read);
  if (endpoint == Endpoint::kAbstractEval) {
    return std::make_unique<EndpointCall>(parts, tesseract, request, record, std::move(call), nullptr,
                                          device_inputs.through_host());
  }
  std::variant<Response, std::unique_ptr<CallRun>> run = run_for(parts, tesseract, request, record);
  if (auto* const refusal = std::get_if<Response>(&run)) {
    return std::move(*refusal);
  }
  return std::make_unique<EndpointCall>(parts, tesseract, request, record, std::move(call),
                                        std::move(std::get<std::unique_ptr<CallRun>>(run)),
                                        device_inputs.through_host());
}

}  // namespace tessera
