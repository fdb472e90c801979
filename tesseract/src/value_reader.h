// Reads values from JSON text as a schema directs, and collects what is wrong with them (PROTOCOL.md sections 6, 7).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/array/array_fault.h"
#include "tessera/array/array_reader.h"
#include "tessera/array/json_scanner.h"
#include "tessera/array/value.h"
#include "tessera/tesseract/problem.h"
#include "tessera/tesseract/schema.h"

namespace tessera {

/// Where a value stands: a chain through the readers' stack, made a Place only when there is a problem. Texts live as
/// long as the spot.
struct Spot {
  const Spot* outer = nullptr;
  std::variant<std::string_view, std::int64_t> part;
};
/// Keys above 2 KiB are cut; beyond 8 KiB, all further ones that are long.
[[nodiscard]] Place place_of(const Spot& spot);

/// The number as a Value; one beyond 64 bits is its double.
[[nodiscard]] Value value_of(const JsonNumber& number);

/// So many problems are kept and no more: a bound on what a hostile body costs.
inline constexpr std::size_t kMaxProblems = 1000;
/// Adds a problem, unless there are kMaxProblems.
void add_problem(std::vector<Problem>& problems, Problem problem);
/// Adds all problems of `more`, under the same bound.
void add_problems(std::vector<Problem>& problems, std::vector<Problem>&& more);

/// Reads the values of one body. Every call leaves the scanner behind the value, whatever is wrong with it; a fault of
/// the scanner ends all loops, and then what was read and found means nothing. One thread at a time.
class ValueReader {
 public:
  enum class Arrays {
    kCast,    ///< made what is declared
    kExact,   ///< must be what is declared
    kShapes,  ///< shape and dtype only
  };

  ValueReader(JsonScanner& scanner, const ArrayReader& arrays, Arrays mode)
      : scanner_(scanner), arrays_(arrays), mode_(mode) {}

  /// Reads a value of a type; null, and at least one problem more, if it is none.
  [[nodiscard]] Value read(const Type& type, const Spot& spot, std::vector<Problem>& problems);
  /// Reads an object with the members of a schema, defaults filled in, rules checked. It is complete only if no problem
  /// was added.
  [[nodiscard]] Object read_object(const Schema& schema, const Spot& spot, std::vector<Problem>& problems);
  /// Reads an array.
  [[nodiscard]] Value read_array(const ArraySpec& spec, const Spot& spot, std::vector<Problem>& problems);
  /// Reads any value that an answer could hold; there are no arrays in it.
  [[nodiscard]] Value read_plain(const Spot& spot, std::vector<Problem>& problems);
  /// Skips the value; adds a problem of this kind about it.
  void refuse(Problem::Kind kind, const Spot& spot, std::vector<Problem>& problems);

 private:
  [[nodiscard]] Value read_scalar(const Type& type, const Spot& spot, std::vector<Problem>& problems);
  [[nodiscard]] Value read_plain_scalar(JsonKind kind, const Spot& spot, std::vector<Problem>& problems);
  [[nodiscard]] Value read_plain_member(const std::string& key, const Spot& spot, std::vector<Problem>& problems);
  static void check_key(const std::string& key, const Spot& member, std::vector<Problem>& problems);
  [[nodiscard]] Value read_list(const Type& type, const Spot& spot, std::vector<Problem>& problems);
  [[nodiscard]] Value read_dict(const Type& type, const Spot& spot, std::vector<Problem>& problems);
  [[nodiscard]] Value read_shape(const ArraySpec& spec, const Spot& spot, std::vector<Problem>& problems);
  [[nodiscard]] Shape read_sizes(const Spot& spot, std::vector<Problem>& problems);
  [[nodiscard]] Value default_of(const Field& field) const;

  JsonScanner& scanner_;
  const ArrayReader& arrays_;
  Arrays mode_;
};

}  // namespace tessera
