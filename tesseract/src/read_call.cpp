#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "gradient_request.h"
#include "scalar_check.h"
#include "tessera/tesseract/body_problems.h"
#include "tessera/tesseract/call.h"
#include "value_reader.h"

namespace tessera {
namespace {

using Kind = Problem::Kind;

// A body that is not JSON is shown as a text up to this size.
constexpr std::size_t kMaxShownBodyBytes = std::size_t{64} << 10;

/// Reads the members of one body as they come, then checks them in the order of the document.
class CallReader {
 public:
  CallReader(const TesseractDefinition& definition, Endpoint endpoint, std::string_view body, const ArrayReader& arrays,
             JsonScanner::Options options)
      : definition_(definition),
        endpoint_(endpoint),
        names_(gradient_names(endpoint)),
        scanner_(body, options),
        values_(scanner_, arrays,
                endpoint == Endpoint::kAbstractEval ? ValueReader::Arrays::kShapes : ValueReader::Arrays::kCast) {}

  [[nodiscard]] CallOrFault read() {
    if (auto fault = read_body(scanner_, text_, [this] { read_members(); })) {
      return std::visit([](auto& one) -> CallOrFault { return std::move(one); }, *fault);
    }
    return checked();
  }

 private:
  struct Inputs {
    bool is_there = false;
    Object object;
    std::vector<Problem> problems;
  };

  [[nodiscard]] const std::vector<DifferentiableArray>& vector_templates() const {
    return (names_->is_of_inputs ? definition_.inputs() : definition_.outputs()).differentiable_arrays();
  }

  void read_members() {
    std::string_view key;
    scanner_.enter();
    while (scanner_.next_member(key)) {
      if (key == "inputs") {
        const Spot spot{&body_, std::string_view("inputs")};
        inputs_ = {true, {}, {}};
        inputs_.object = values_.read_object(definition_.inputs(), spot, inputs_.problems);
      } else if (names_ != nullptr && key == names_->inputs) {
        input_paths_ = read_raw_paths(scanner_);
      } else if (names_ != nullptr && key == names_->outputs) {
        output_paths_ = read_raw_paths(scanner_);
      } else if (names_ != nullptr && !names_->vector.empty() && key == names_->vector) {
        vector_ = read_raw_vector(scanner_, values_, names_->vector, vector_templates());
      } else {
        read_unknown(key);
      }
    }
  }

  void read_unknown(std::string_view key) {
    std::string name(key);
    const std::string_view value = scanner_.skip_value();
    if (const auto known = unknown_positions_.find(name); known != unknown_positions_.end()) {
      unknown_[known->second].second = value;
    } else if (unknown_.size() < kMaxProblems) {
      unknown_positions_.emplace(name, unknown_.size());
      unknown_.emplace_back(std::move(name), value);
    }
  }

  [[nodiscard]] CallOrFault checked() {
    Call call;
    call.endpoint = endpoint_;
    const bool are_inputs_right = inputs_.is_there && inputs_.problems.empty();
    add_problems(problems_, std::move(inputs_.problems));
    if (!inputs_.is_there) {
      add_missing("inputs");
    }
    if (names_ != nullptr) {
      check_gradient_members(call, are_inputs_right ? &inputs_.object : nullptr);
    }
    for (const auto& [name, value] : unknown_) {
      const Spot spot{&body_, std::string_view(name)};
      Problem problem = problem_of(Kind::kExtraForbidden);
      problem.place = place_of(spot);
      problem.input = value;
      add_problem(problems_, std::move(problem));
    }
    if (!problems_.empty()) {
      return std::move(problems_);
    }
    call.inputs = std::move(inputs_.object);
    return call;
  }

  void check_gradient_members(Call& call, const Object* inputs) {
    const auto input_paths =
        check_path_set(input_paths_, names_->inputs, {definition_.inputs().differentiable_arrays(), true, inputs});
    const auto output_paths =
        check_path_set(output_paths_, names_->outputs, {definition_.outputs().differentiable_arrays(), false, nullptr});
    if (!names_->vector.empty()) {
      const auto& paths = names_->is_of_inputs ? input_paths : output_paths;
      if (vector_) {
        call.vector = check_vector(*std::move(vector_), *names_, vector_templates(), paths ? &*paths : nullptr, inputs,
                                   problems_);
      } else {
        add_missing(names_->vector);
      }
    }
    call.input_paths = input_paths.value_or(PathSet());
    call.output_paths = output_paths.value_or(PathSet());
  }

  [[nodiscard]] std::optional<PathSet> check_path_set(const std::optional<RawPaths>& raw, std::string_view name,
                                                      const PathChecks& checks) {
    if (raw) {
      return check_paths(*raw, name, checks, problems_);
    }
    add_missing(name);
    return std::nullopt;
  }

  void add_missing(std::string_view name) {
    const Spot spot{&body_, name};
    Problem problem = problem_of(Kind::kMissing);
    problem.place = place_of(spot);
    problem.input = text_;
    add_problem(problems_, std::move(problem));
  }

  const TesseractDefinition& definition_;
  Endpoint endpoint_;
  const GradientNames* names_;
  JsonScanner scanner_;
  ValueReader values_;
  Spot body_{nullptr, std::string_view("body")};

  std::string_view text_;
  Inputs inputs_;
  std::optional<RawPaths> input_paths_;
  std::optional<RawPaths> output_paths_;
  std::optional<RawVector> vector_;
  std::unordered_map<std::string, std::size_t> unknown_positions_;
  std::vector<std::pair<std::string, std::string_view>> unknown_;
  std::vector<Problem> problems_;
};

}  // namespace

CallOrFault read_call(const TesseractDefinition& definition, Endpoint endpoint, std::string_view body,
                      const ArrayReader& arrays, JsonScanner::Options options) {
  if (body.empty()) {
    return std::vector<Problem>{problem_of_no_object(JsonKind::kNull, {})};
  }
  return CallReader(definition, endpoint, body, arrays, options).read();
}

std::vector<Problem> not_called_json(std::string_view body) {
  if (body.empty()) {
    return {problem_of_no_object(JsonKind::kNull, {})};
  }
  Problem problem = problem_of_no_object(JsonKind::kText, {});
  problem.input_is_text = true;
  problem.input_text =
      body.size() > kMaxShownBodyBytes ? "…(" + std::to_string(body.size()) + " bytes)" : std::string(body);
  return {std::move(problem)};
}

}  // namespace tessera
