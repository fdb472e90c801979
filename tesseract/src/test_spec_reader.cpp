#include <array>
#include <utility>

#include "scalar_check.h"
#include "tessera/base/utf8.h"
#include "tessera/tesseract/body_problems.h"
#include "tessera/tesseract/endpoint_error.h"
#include "tessera/tesseract/test_spec.h"
#include "value_reader.h"

namespace tessera {
namespace {

using Kind = Problem::Kind;
using SpecOrFault = std::variant<TestSpec, std::vector<Problem>, JsonFault>;

enum Member : std::size_t { kEndpoint, kPayload, kOutputs, kException, kPattern, kAtol, kRtol, kSkip, kCli, kMembers };

constexpr std::array<std::string_view, kMembers> kNames = {
    "endpoint", "payload", "expected_outputs",        "expected_exception", "expected_exception_regex",
    "atol",     "rtol",    "skip_output_path_checks", "cli_config"};

/// The types of those members that have an ordinary one.
const Type& type_of_member(std::size_t member) {
  static const Type kText = text();
  static const Type kOptionalText = text().optional();
  static const Type kNumber = number();
  static const Type kFlag = boolean();
  static const Type kCliConfig = object(Schema("TestCliConfig")
                                            .field("input_path", text().optional(), "", nullptr)
                                            .field("volume_mounts", list_of(text()).optional(), "", nullptr)
                                            .field("user", text().optional(), "", nullptr)
                                            .allow_extra_keys())
                                     .optional();
  switch (member) {
    case kEndpoint:
      return kText;
    case kPattern:
      return kOptionalText;
    case kAtol:
    case kRtol:
      return kNumber;
    case kSkip:
      return kFlag;
    default:
      return kCliConfig;
  }
}

class SpecReader {
 public:
  SpecReader(std::string_view body, const ArrayReader& arrays, JsonScanner::Options options)
      : scanner_(body, options), values_(scanner_, arrays, ValueReader::Arrays::kCast) {}

  [[nodiscard]] SpecOrFault read() {
    if (auto fault = read_body(scanner_, text_, [this] { read_members(); })) {
      return std::visit([](auto& one) -> SpecOrFault { return std::move(one); }, *fault);
    }
    return checked();
  }

 private:
  void read_members() {
    std::string_view key;
    scanner_.enter();
    while (scanner_.next_member(key)) {
      std::size_t member = 0;
      while (member < kMembers && kNames[member] != key) {
        ++member;
      }
      if (member == kMembers) {
        scanner_.skip_value();
        continue;
      }
      problems_[member].clear();
      is_there_[member] = true;
      read_member(member, {&body_, kNames[member]});
    }
  }

  void read_member(std::size_t member, const Spot& spot) {
    if (member == kPayload) {
      read_text_of_object(payload_, spot, problems_[member]);
    } else if (member == kOutputs) {
      outputs_.reset();
      if (scanner_.peek() == JsonKind::kNull) {
        scanner_.read_literal();
      } else {
        read_text_of_object(outputs_, spot, problems_[member]);
      }
    } else if (member == kException) {
      read_[member] = Value();
      if (scanner_.peek() == JsonKind::kNull) {
        scanner_.read_literal();
      } else {
        read_exception(spot, problems_[member]);
      }
    } else {
      read_[member] = values_.read(type_of_member(member), spot, problems_[member]);
    }
  }

  void read_text_of_object(std::optional<std::string_view>& json, const Spot& spot, std::vector<Problem>& problems) {
    if (scanner_.peek() == JsonKind::kObject) {
      json = scanner_.skip_value();
    } else {
      values_.refuse(Kind::kDictType, spot, problems);
    }
  }

  void read_exception(const Spot& spot, std::vector<Problem>& problems) {
    const std::size_t begin = scanner_.offset();
    std::string wrong;
    if (scanner_.peek() == JsonKind::kText) {
      std::string name = scanner_.read_text();
      if (!is_builtin_exception(name) && name.find('.') == std::string::npos) {
        wrong = "Non-builtin exception '" + brief(name) +
                "' must be specified in 'packagename.exceptionname' format (e.g., 'pydantic.ValidationError')";
      }
      read_[kException] = Value(std::move(name));
    } else {
      scanner_.skip_value();
      wrong = "expected_exception must be a string or exception type";
    }
    if (!wrong.empty()) {
      Problem problem = problem_of(Kind::kValueError);
      problem.place = place_of(spot);
      problem.input = scanner_.text_since(begin);
      problem.text = std::move(wrong);
      add_problem(problems, std::move(problem));
    }
  }

  [[nodiscard]] std::variant<TestSpec, std::vector<Problem>, JsonFault> checked() {
    std::vector<Problem> problems;
    for (std::size_t member = 0; member < kMembers; ++member) {
      if (!is_there_[member] && (member == kEndpoint || member == kPayload)) {
        const Spot spot{&body_, kNames[member]};
        Problem problem = problem_of(Kind::kMissing);
        problem.place = place_of(spot);
        problem.input = text_;
        add_problem(problems, std::move(problem));
      }
      add_problems(problems, std::move(problems_[member]));
    }
    const bool has_exception = read_[kException].kind() == Value::Kind::kText;
    if (problems.empty() && has_exception == outputs_.has_value()) {
      Problem problem = problem_of(Kind::kValueError);
      problem.place = place_of(body_);
      problem.input = text_;
      problem.text = has_exception ? "Cannot specify both 'expected_outputs' and 'expected_exception'. "
                                     "Provide exactly one."
                                   : "Must specify either 'expected_outputs' or 'expected_exception'. "
                                     "Provide exactly one.";
      add_problem(problems, std::move(problem));
    }
    if (!problems.empty()) {
      return problems;
    }
    TestSpec spec;
    spec.endpoint = read_[kEndpoint].text();
    spec.payload = payload_.value_or("{}");
    spec.expected_outputs = outputs_;
    if (has_exception) {
      spec.expected_exception = read_[kException].text();
    }
    if (read_[kPattern].kind() == Value::Kind::kText) {
      spec.exception_pattern = read_[kPattern].text();
    }
    spec.atol = is_there_[kAtol] ? read_[kAtol].number() : spec.atol;
    spec.rtol = is_there_[kRtol] ? read_[kRtol].number() : spec.rtol;
    return spec;
  }

  JsonScanner scanner_;
  ValueReader values_;
  Spot body_{nullptr, std::string_view("body")};
  std::string_view text_;
  std::array<bool, kMembers> is_there_{};
  std::array<Value, kMembers> read_;
  std::array<std::vector<Problem>, kMembers> problems_;
  std::optional<std::string_view> payload_;  // there if nothing is wrong with it
  std::optional<std::string_view> outputs_;
};

}  // namespace

std::variant<TestSpec, std::vector<Problem>, JsonFault> read_test_spec(std::string_view body, const ArrayReader& arrays,
                                                                       JsonScanner::Options options) {
  if (body.empty()) {
    return std::vector<Problem>{problem_of_no_object(JsonKind::kNull, {})};
  }
  return SpecReader(body, arrays, options).read();
}

}  // namespace tessera
