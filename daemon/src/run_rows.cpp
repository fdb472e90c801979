#include "run_rows.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "tessera/array/json_scanner.h"
#include "tessera/base/python_text.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

std::string local_time(Clock::WallTime time) {
  const auto since_epoch = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch());
  const auto whole = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const std::time_t seconds = whole.count();
  std::tm parts{};
  localtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 16> fraction{};
  (void)std::snprintf(fraction.data(), fraction.size(), ".%06d", static_cast<int>((since_epoch - whole).count()));
  return std::string(text.data(), size) + fraction.data();
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string cell = "\"";
  for (const char character : text) {
    cell += character;
    if (character == '"') {
      cell += '"';
    }
  }
  return cell + '"';
}

void append_parameter(std::string& out, const Value& value, std::size_t indent);

void append_line(std::string& out, std::size_t indent) {
  out += '\n';
  out.append(indent, ' ');
}

void append_object(std::string& out, const Object& object, std::size_t indent) {
  if (object.is_empty()) {
    out += "{}";
    return;
  }
  char before = '{';
  for (const Object::Member& member : object.members()) {
    out += before;
    append_line(out, indent + 2);
    append_json_text(out, member.key);
    out += ": ";
    append_parameter(out, member.value, indent + 2);
    before = ',';
  }
  append_line(out, indent);
  out += '}';
}

void append_list(std::string& out, const List& list, std::size_t indent) {
  if (list.empty()) {
    out += "[]";
    return;
  }
  char before = '[';
  for (const Value& item : list) {
    out += before;
    append_line(out, indent + 2);
    append_parameter(out, item, indent + 2);
    before = ',';
  }
  append_line(out, indent);
  out += ']';
}

void append_parameter(std::string& out, const Value& value, std::size_t indent) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      out += "null";
      break;
    case Value::Kind::kBool:
      out += value.boolean() ? "true" : "false";
      break;
    case Value::Kind::kInt:
      out += std::to_string(value.integer());
      break;
    case Value::Kind::kUInt:
      out += std::to_string(value.unsigned_integer());
      break;
    case Value::Kind::kDouble:
      out += std::isfinite(value.number()) ? python_repr(value.number()) : "null";
      break;
    case Value::Kind::kText:
      append_json_text(out, value.text());
      break;
    case Value::Kind::kList:
      append_list(out, value.list(), indent);
      break;
    case Value::Kind::kObject:
      append_object(out, value.object(), indent);
      break;
    case Value::Kind::kArray:
      append_json_text(
          out, std::string(name_of(value.array().dtype())) + " array of shape " + python_tuple(value.array().shape()));
      break;
  }
}

}  // namespace

std::string metrics_row(Clock::WallTime time, std::string_view key, double value, std::int64_t step) {
  return local_time(time) + ',' + csv_cell(replaced_utf8(key)) + ',' + python_repr(value) + ',' + std::to_string(step) +
         "\r\n";
}

std::string parameters_document(const Object& parameters) {
  std::string document;
  append_object(document, parameters, 0);
  return document;
}

}  // namespace tessera
