#include "gpu_check.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers.h"
#include "device_inputs.h"
#include "response_exports.h"
#include "tessera/array/base64.h"
#include "tessera/array/json_scanner.h"
#include "tessera/array/value_writer.h"
#include "tessera/base/python_text.h"
#include "tessera/ipc/peer.h"
#include "tessera/ipc/transport_check.h"
#include "tessera/tesseract/body_problems.h"

namespace tessera {
namespace {

/// What the check looks at in the array; the rest of it does not matter.
struct CheckArray {
  bool is_uint8 = false;
  bool is_one_axis = false;
  std::string encoding;
  std::string reference;
};

struct CheckRequest {
  std::string transport = "None";  ///< as Python writes it
  bool is_text = false;
  CheckArray array;
  std::string expected;
  std::optional<Peer> peer;
};

std::uint64_t read_optional_number(JsonScanner& scanner) {
  if (scanner.peek() == JsonKind::kNumber) {
    const JsonNumber number = scanner.read_number();
    return number.kind == JsonNumber::Kind::kInt && number.integer > 0 ? static_cast<std::uint64_t>(number.integer) : 0;
  }
  scanner.skip_value();
  return 0;
}

// Whether a shape is [256].
bool read_is_one_axis(JsonScanner& scanner) {
  if (scanner.peek() != JsonKind::kList) {
    scanner.skip_value();
    return false;
  }
  std::size_t axes = 0;
  bool is_right = true;
  scanner.enter();
  while (scanner.next_item()) {
    ++axes;
    is_right = read_optional_number(scanner) == kCheckBytes;
  }
  return axes == 1 && is_right;
}

template <class Read>
void read_members(JsonScanner& scanner, Read read) {
  if (scanner.peek() != JsonKind::kObject) {
    scanner.skip_value();
    return;
  }
  std::string_view key;
  scanner.enter();
  while (scanner.next_member(key)) {
    if (!read(key)) {
      scanner.skip_value();
    }
  }
}

CheckArray read_array(JsonScanner& scanner) {
  CheckArray array;
  read_members(scanner, [&](std::string_view key) {
    if (key == "dtype") {
      array.is_uint8 = scanner.read_optional_text() == "uint8";
    } else if (key == "shape") {
      array.is_one_axis = read_is_one_axis(scanner);
    } else if (key == "data") {
      read_members(scanner, [&](std::string_view member) {
        if (member == "encoding") {
          array.encoding = scanner.read_optional_text().value_or("");
        } else if (member == "buffer") {
          array.reference = scanner.read_optional_text().value_or("");
        } else {
          return false;
        }
        return true;
      });
    } else {
      return false;
    }
    return true;
  });
  return array;
}

std::optional<Peer> read_peer(JsonScanner& scanner) {
  Peer peer;
  read_members(scanner, [&](std::string_view key) {
    if (key == "pid") {
      peer.pid = static_cast<std::int64_t>(read_optional_number(scanner));
    } else if (key == "pid_namespace") {
      peer.pid_namespace = read_optional_number(scanner);
    } else if (key == "boot_id") {
      peer.boot_id = scanner.read_optional_text().value_or("");
    } else {
      return false;
    }
    return true;
  });
  return peer.pid > 0 ? std::optional(std::move(peer)) : std::nullopt;
}

// A value of JSON as Python's repr() shows it; what is neither text nor literal is shown as it came.
std::string read_repr(JsonScanner& scanner, bool& is_text) {
  const JsonKind kind = scanner.peek();
  is_text = kind == JsonKind::kText;
  switch (kind) {
    case JsonKind::kText:
      return python_repr(scanner.read_text());
    case JsonKind::kNull:
      scanner.read_literal();
      return "None";
    case JsonKind::kTrue:
      scanner.read_literal();
      return "True";
    case JsonKind::kFalse:
      scanner.read_literal();
      return "False";
    default:
      return std::string(scanner.skip_value());
  }
}

CheckRequest read_request(JsonScanner& scanner) {
  CheckRequest request;
  read_members(scanner, [&](std::string_view key) {
    if (key == "gpu_transport") {
      request.transport = read_repr(scanner, request.is_text);
    } else if (key == "array") {
      request.array = read_array(scanner);
    } else if (key == "expected") {
      request.expected = scanner.read_optional_text().value_or("");
    } else if (key == "peer") {
      request.peer = read_peer(scanner);
    } else {
      return false;
    }
    return true;
  });
  return request;
}

Response not_ok(std::string_view reason) {
  std::string json = R"({"ok":false,"reason":)";
  append_json_text(json, reason);
  return json_answer(200, json + "}");
}

Response not_exchanged(std::string_view what) {
  return not_ok("the Tesseract could not exchange GPU memory with the client: " + std::string(what));
}

/// What CUDA refuses is a RuntimeError, as is that there is none; what the request says wrongly a ValueError.
std::string_view kind_of(const Error& error) {
  return error.native_code() == 0 && error.code() != ErrorCode::kUnavailable ? "ValueError: " : "RuntimeError: ";
}

/// The problem of a body that is no object.
Response refuse_body(JsonKind kind, const JsonScanner& scanner, std::string_view text) {
  if (scanner.has_fault()) {
    return scanner.fault().kind == JsonFault::Kind::kSyntax
               ? json_answer(422, problems_to_json({problem_of_syntax(scanner.fault())}))
               : unreadable_body();
  }
  Problem problem = problem_of_no_object(kind, text);
  problem.kind = kind == JsonKind::kNull ? Problem::Kind::kMissing : Problem::Kind::kDictType;
  return json_answer(422, problems_to_json({std::move(problem)}));
}

Response exchange_bytes(GpuExchange& exchange, const Request& request, const CheckRequest& check) {
  GpuTransport& transport = *exchange.transport();
  const auto size = base64_decoded_size(check.expected);
  std::vector<std::byte> expected(size ? *size : 0);
  if (!size || !base64_decode(check.expected, expected)) {
    return not_exchanged("Error: Non-base64 digit found");
  }
  const std::shared_ptr<GpuSystem> gpus = exchange.gpus();
  Result<Array> reversed = answer_check(*gpus, transport, check.array.reference, expected);
  if (!reversed) {
    return not_exchanged(std::string(kind_of(reversed.error())) + import_failure(transport, reversed.error()));
  }
  ResponseExports exports(exchange, true, request);
  Response response;
  response.body.append(R"({"ok":true,"array":)");
  if (const Status written = write_value(Value(*std::move(reversed)), Encoding{}, {.device = &exports}, response.body);
      !written) {
    return not_exchanged(std::string(kind_of(written.error())) + written.error().message());
  }
  response.body.append("}");
  exports.commit(response, true);
  return response;
}

}  // namespace

Response answer_gpu_check(GpuExchange& exchange, const Request& request) {
  if (std::optional<Response> refusal = refuse_content_type(request)) {
    return *std::move(refusal);
  }
  if (request.body.is_empty()) {
    return json_answer(422, problems_to_json({problem_of_no_object(JsonKind::kNull, {})}));
  }
  JsonScanner scanner(request.body.whole());
  const JsonKind kind = scanner.peek();
  const std::size_t begin = scanner.offset();
  const CheckRequest check = read_request(scanner);
  const std::string_view text = scanner.text_since(begin);
  scanner.expect_end();
  if (kind != JsonKind::kObject || scanner.has_fault()) {
    return refuse_body(kind, scanner, text);
  }
  const GpuTransport& transport = *exchange.transport();
  if (!check.is_text || check.transport != python_repr(transport.name())) {
    return not_ok("gpu_transport=" + check.transport + " is not enabled on this Tesseract (available: ['none', " +
                  python_repr(transport.name()) + "])");
  }
  if (!check.array.is_uint8) {
    return not_exchanged("ValueError: expected a uint8 array");
  }
  if (!check.array.is_one_axis) {
    return not_exchanged("ValueError: expected an array of " + std::to_string(kCheckBytes) + " bytes");
  }
  if (check.array.encoding != transport.name()) {
    return not_exchanged("ValueError: expected a " + std::string(transport.name()) + " array");
  }
  if (check.peer) {
    if (const std::optional<TransportProblem> obstacle = find_obstacle(Peer::self(), *check.peer)) {
      return not_exchanged("RuntimeError: " + text_of(*obstacle));
    }
  }
  return exchange_bytes(exchange, request, check);
}

}  // namespace tessera
