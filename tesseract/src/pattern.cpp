#include "pattern.h"

#include <re2/re2.h>

namespace tessera {
namespace {

class Re2Pattern final : public Pattern {
 public:
  Re2Pattern(const std::string& expression, const RE2::Options& options) : re_(expression, options) {}

  [[nodiscard]] const RE2& re() const { return re_; }
  [[nodiscard]] bool is_found_in(std::string_view text) const override {
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), re_);
  }

 private:
  RE2 re_;
};

}  // namespace

Result<std::shared_ptr<const Pattern>> Pattern::compile(const std::string& expression) {
  RE2::Options options;
  options.set_log_errors(false);
  auto pattern = std::make_shared<const Re2Pattern>(expression, options);
  if (!pattern->re().ok()) {
    return Error(ErrorCode::kInvalidArgument,
                 "'" + expression + "' is no regular expression of RE2: " + pattern->re().error());
  }
  return std::shared_ptr<const Pattern>(std::move(pattern));
}

}  // namespace tessera
