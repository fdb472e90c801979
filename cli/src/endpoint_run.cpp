#include "endpoint_run.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "command.h"
#include "tessera/array/array_reader.h"
#include "tessera/array/device_array.h"
#include "tessera/array/value_writer.h"
#include "tessera/base/clock.h"
#include "tessera/base/mutex.h"
#include "tessera/daemon/crash_notice.h"
#include "tessera/daemon/openapi.h"
#include "tessera/daemon/output_capture.h"
#include "tessera/daemon/run.h"
#include "tessera/ipc/gpu_system.h"
#include "tessera/tesseract/call.h"
#include "tessera/tesseract/test_spec.h"

namespace tessera {
namespace {

constexpr std::string_view kTest = "test";
constexpr std::string_view kHealth = "health";
constexpr std::string_view kOpenapiSchema = "openapi-schema";

std::string with_dashes(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', '-');
  return text;
}

std::optional<Endpoint> endpoint_of(std::string_view command) {
  std::string name(command);
  std::ranges::replace(name, '-', '_');
  return find_endpoint(name);
}

// The models that upstream's messages name.
std::string_view model_of(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::kApply:
      break;
    case Endpoint::kJacobian:
      return "JacobianInputSchema";
    case Endpoint::kJacobianVectorProduct:
      return "JVPInputSchema";
    case Endpoint::kVectorJacobianProduct:
      return "VJPInputSchema";
    case Endpoint::kAbstractEval:
      return "AbstractInputSchema";
  }
  return "ApplyInputSchema";
}

[[noreturn]] void fail(const std::string& text) {
  throw CommandError(ExitCode::kFailure, text);
}

[[noreturn]] void fail(const EndpointFailure& failure) {
  fail(failure.kind + ": " + failure.text);
}

// As Python's json module says where it stopped; `position` counts characters.
std::string place_in(std::string_view text, std::int64_t position) {
  std::int64_t line = 1;
  std::int64_t line_begin = 0;
  std::int64_t at = -1;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) {
      continue;  // the rest of a character in UTF-8
    }
    if (++at >= position) {
      break;
    }
    if (c == '\n') {
      ++line;
      line_begin = at + 1;
    }
  }
  return "line " + std::to_string(line) + " column " + std::to_string(position - line_begin + 1) + " (char " +
         std::to_string(position) + ")";
}

[[noreturn]] void refuse(const JsonFault& fault) {
  fail("the payload is not JSON: " + fault.text);  // too deep, or no UTF-8: at no one place
}

[[noreturn]] void refuse(const std::vector<Problem>& problems, std::string_view model, std::string_view payload) {
  const bool is_json = std::ranges::none_of(
      problems, [](const Problem& problem) { return problem.kind == Problem::Kind::kJsonInvalid; });
  if (!is_json) {
    const Problem& problem = problems.front();
    const auto* const position = problem.place.empty() ? nullptr : std::get_if<std::int64_t>(&problem.place.back());
    fail("the payload is not JSON: " + problem.text + (position != nullptr ? ": " + place_in(payload, *position) : ""));
  }
  throw CommandError(ExitCode::kUsage, "Invalid value for payload: " + problems_to_text(problems, model));
}

// Over HTTP no body at all is a missing field; here it is a text that is not JSON.
void require_text(const std::string& payload) {
  if (std::ranges::all_of(payload, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; })) {
    fail("the payload is not JSON: it is empty");
  }
}

template <class T>
T value_or_fail(Result<T> result) {
  if (!result.has_value()) {
    fail(result.error().message());
  }
  return std::move(result).value();
}

void check(const Status& status) {
  if (!status.has_value()) {
    fail(status.error().message());
  }
}

// Without a client to lend them to, arrays on a GPU are copied to the host, if they may be.
class HostWriter final : public DeviceArrayWriter {
 public:
  explicit HostWriter(bool is_forbidden) : is_forbidden_(is_forbidden) {}

  [[nodiscard]] Result<std::optional<std::string>> write(const Array& /*array*/) override {
    return std::optional<std::string>();
  }
  [[nodiscard]] Result<Array> to_host(const Array& array) override {
    if (is_forbidden_) {
      return host_copy_forbidden();
    }
    return array.to_host();
  }

 private:
  bool is_forbidden_;
};

// The folders and files of the run, which exist from the moment that the payload is accepted.
class RunFiles {
 public:
  explicit RunFiles(const std::filesystem::path& output_path)
      : output_(make_and_open(output_path)), run_(Run::make(output_, "", clock_, [this] { return gpus(); })) {
    check(run_->make_folder());
  }

  [[nodiscard]] const ConfinedFolder& output() const { return output_; }
  [[nodiscard]] Run& run() { return *run_; }
  [[nodiscard]] std::unique_ptr<OutputCapture> capture() {
    return value_or_fail(standard_output_.capture(*run_, OutputCapture::Target::kRunLogAndError));
  }

 private:
  // The GPUs, for a Tesseract that asks for them; on whichever thread it does.
  std::shared_ptr<GpuSystem> gpus() {
    const MutexLock lock(mutex_);
    if (!gpus_) {
      gpus_ = GpuSystem::open({}, clock_);
    }
    return gpus_;
  }
  static ConfinedFolder make_and_open(const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) {
      fail("cannot make the output path " + path.string() + ": " + error.message());
    }
    return value_or_fail(ConfinedFolder::open(path));
  }

  const StandardOutput standard_output_ = value_or_fail(StandardOutput::keep());
  SystemClock clock_;
  Mutex mutex_;
  std::shared_ptr<GpuSystem> gpus_ TESSERA_GUARDED_BY(mutex_);
  ConfinedFolder output_;
  std::unique_ptr<Run> run_;
};

// Array files of inputs are refused one by one if their folder is not there.
std::optional<ConfinedFolder> open_input_path(const std::filesystem::path& path) {
  Result<ConfinedFolder> folder = ConfinedFolder::open(path);
  return folder.has_value() ? std::optional(std::move(folder).value()) : std::nullopt;
}

class EndpointRun {
 public:
  EndpointRun(const TesseractDefinition& definition, const RuntimeConfig& config, const ResultChannel& channel)
      : definition_(definition),
        config_(config),
        channel_(channel),
        input_(open_input_path(config.input_path)),
        arrays_(input_ ? &*input_ : nullptr, ArrayReader::Limits()) {}

  void compute(Endpoint endpoint, const std::string& payload) const {
    CallOrFault read = read_call(definition_, endpoint, payload, arrays_);
    if (const auto* problems = std::get_if<std::vector<Problem>>(&read)) {
      refuse(*problems, model_of(endpoint), payload);
    }
    if (const auto* fault = std::get_if<JsonFault>(&read)) {
      refuse(*fault);
    }
    RunFiles files(config_.output_path);
    std::variant<Object, EndpointFailure> outcome;
    {
      const CrashNote note({.tesseract = definition_.name(),
                            .endpoint = name_of(endpoint),
                            .output = files.output().path().native(),
                            .run_folder = "",
                            .id = ""});
      const std::unique_ptr<OutputCapture> capture = files.capture();
      // abstract_eval leaves out what was not set, other than over HTTP.
      outcome = run_call(definition_, std::get<Call>(read), files.run(), false);
    }
    if (const auto* failure = std::get_if<EndpointFailure>(&outcome)) {
      fail(*failure);
    }
    BinrefWriter array_files(files.output(), "", []() { return Status(); });
    HostWriter arrays_on_gpus(config_.forbid_device_host_copy);
    Body body;
    const Encoding encoding{
        .format = config_.output_format, .compression = config_.compression, .gpu_transport = "none"};
    check(write_value(std::get<Object>(std::move(outcome)), encoding,
                      {.files = &array_files, .device = &arrays_on_gpus}, body));
    array_files.commit();
    write(body, files);
  }

  void test(const std::string& payload) const {
    auto spec = read_test_spec(payload, arrays_);
    if (const auto* problems = std::get_if<std::vector<Problem>>(&spec)) {
      refuse(*problems, "TestSpec", payload);
    }
    if (const auto* fault = std::get_if<JsonFault>(&spec)) {
      refuse(*fault);
    }
    RunFiles files(config_.output_path);
    const auto outcome = [&]() {
      const CrashNote note({.tesseract = definition_.name(),
                            .endpoint = kTest,
                            .output = files.output().path().native(),
                            .run_folder = "",
                            .id = ""});
      const std::unique_ptr<OutputCapture> capture = files.capture();
      return run_test(definition_, std::get<TestSpec>(spec), arrays_, files.run());
    }();
    if (const auto* failure = std::get_if<EndpointFailure>(&outcome)) {
      fail(*failure);
    }
    write(Body(std::get<TestOutcome>(outcome).to_json()), files);
  }

  void print(std::string text) const {
    const RunFiles files(config_.output_path);
    write(Body(std::move(text)), files);
  }

 private:
  void write(const Body& body, const RunFiles& files) const {
    if (config_.output_file.empty()) {
      channel_.write(body);
    } else {
      ResultChannel::write_to_file(body, files.output(), config_.output_file);
    }
  }

  const TesseractDefinition& definition_;
  const RuntimeConfig& config_;
  const ResultChannel& channel_;
  std::optional<ConfinedFolder> input_;
  ArrayReader arrays_;
};

}  // namespace

std::vector<std::string> endpoint_commands(const TesseractDefinition& definition) {
  std::vector<std::string> commands;
  for (const Endpoint endpoint : {Endpoint::kApply, Endpoint::kJacobian, Endpoint::kJacobianVectorProduct,
                                  Endpoint::kVectorJacobianProduct, Endpoint::kAbstractEval}) {
    if (definition.has(endpoint)) {
      commands.push_back(with_dashes(name_of(endpoint)));
    }
  }
  for (const std::string_view other : {kTest, kHealth, kOpenapiSchema}) {
    commands.emplace_back(other);
  }
  return commands;
}

bool takes_payload(const std::string& command) {
  return command != kHealth && command != kOpenapiSchema;
}

void run_endpoint(const TesseractDefinition& definition, const std::string& command, const std::string& payload,
                  const RuntimeConfig& config, const ResultChannel& channel) {
  const EndpointRun run(definition, config, channel);
  if (command == kHealth) {
    return run.print(R"({"status":"ok"})");
  }
  if (command == kOpenapiSchema) {
    return run.print(openapi_document(definition, config));
  }
  require_text(payload);
  if (const std::optional<Endpoint> endpoint = endpoint_of(command)) {
    return run.compute(*endpoint, payload);
  }
  run.test(payload);
}

}  // namespace tessera
