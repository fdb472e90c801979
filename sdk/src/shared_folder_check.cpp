#include "shared_folder_check.h"

#include <span>
#include <utility>
#include <vector>

#include "tessera/array/encoding.h"
#include "tessera/array/value_writer.h"
#include "tessera/base/file.h"
#include "tessera/base/random_id.h"

namespace tessera {
namespace {

// The file has between these, the array that is asked for more.
constexpr std::size_t kFewestBytes = 1000;
constexpr std::size_t kByteRange = 60000;
constexpr std::int64_t kElements = 100000;

// Whether a number stands in a text, not as a part of another.
bool holds_number(std::string_view text, const std::string& number) {
  const auto is_digit_at = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  for (std::size_t at = text.find(number); at != std::string_view::npos; at = text.find(number, at + 1)) {
    if ((at == 0 || !is_digit_at(at - 1)) && !is_digit_at(at + number.size())) {
      return true;
    }
  }
  return false;
}

}  // namespace

SharedFolderCheck::SharedFolderCheck(SharedFolderCheck&& other) noexcept
    : folder_(std::exchange(other.folder_, nullptr)),
      input_(std::move(other.input_)),
      name_(std::move(other.name_)),
      size_bytes_(other.size_bytes_) {}

SharedFolderCheck::~SharedFolderCheck() {
  if (folder_ != nullptr && !name_.empty()) {
    // Nothing can be done about a file that stays.
    static_cast<void>(folder_->remove_file(name_));
  }
}

Result<SharedFolderCheck> SharedFolderCheck::begin(const ConfinedFolder& folder, const ArrayInput& input) {
  SharedFolderCheck check(folder, input);
  const RandomId id = RandomId::make();
  check.size_bytes_ = kFewestBytes + (id.bytes()[0] * std::size_t{256} + id.bytes()[1]) % kByteRange;
  const std::string name = "tessera-check-" + id.dashed() + ".bin";
  TESSERA_ASSIGN_OR_RETURN(const UniqueFd file, folder.create_file(name));
  check.name_ = name;
  const std::vector<std::byte> bytes(check.size_bytes_);
  TESSERA_RETURN_IF_ERROR(write_all(file.value(), bytes));
  return check;
}

Body SharedFolderCheck::body() const {
  List shape;
  for (const std::int64_t size : input_.shape_of(kElements)) {
    shape.emplace_back(size);
  }
  const Object array = {{"shape", std::move(shape)},
                        {"dtype", std::string(name_of(input_.dtype))},
                        {"data", Object{{"buffer", name_ + ":0"}, {"encoding", "binref"}}}};
  Body body;
  // Without arrays and files nothing can fail.
  static_cast<void>(write_value(Value(Object{{"inputs", Object{{input_.name, array}, {kUnknownInput, nullptr}}}}),
                                Encoding(), ArrayWriters(), body));
  return body;
}

std::optional<std::string> SharedFolderCheck::find_obstacle(const std::vector<RefusedItem>& items) const {
  for (const RefusedItem& item : items) {
    const bool is_of_the_file = item.message.find(name_) != std::string::npos;
    if (is_of_the_file && holds_number(item.message, std::to_string(size_bytes_))) {
      return std::nullopt;
    }
    if (is_of_the_file) {
      return item.message;
    }
  }
  return "the server says nothing of a file of this process";
}

}  // namespace tessera
