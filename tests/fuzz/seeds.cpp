#include "seeds.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <utility>

#include "tessera/array/base64.h"
#include "tessera/array/dtype.h"
#include "tessera/array/lz4_frame.h"
#include "tessera/base/file.h"

namespace tessera::fuzzing {
namespace {

using nlohmann::json;
using Seeds = std::vector<std::string>;

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{16} << 20;
// Fuzzers cut and join short inputs best.
constexpr std::size_t kMaxSeedBytes = 4096;

std::string file_text(const std::string& name) {
  auto text = read_file(std::string(TESSERA_SOURCE_DIR "/") + name, kMaxFileBytes);
  if (!text.has_value()) {
    throw std::runtime_error(text.error().message());
  }
  return *std::move(text);
}

// One list of a file of vectors.
json vectors(const std::string& name, const char* key) {
  return json::parse(file_text("tests/vectors/" + name))[key];
}

// The choices that an input begins with.
std::string choices(std::initializer_list<std::size_t> bytes) {
  std::string text;
  for (const std::size_t byte : bytes) {
    text += static_cast<char>(byte);
  }
  return text;
}

std::string decoded_base64(const std::string& text) {
  std::string bytes(base64_decoded_size(text).value_or(0), '\0');
  if (!base64_decode(text, std::as_writable_bytes(std::span(bytes)))) {
    throw std::runtime_error("a vector is not base64: " + text);
  }
  return bytes;
}

/// One array of the vectors.
struct ArrayCase {
  std::size_t dtype;
  std::string shape;  ///< as the choices have it: the rank, then each size
  std::vector<std::size_t> sizes;
  json objects;  ///< form → text of the object
};

// Those whose sizes fit into the choices.
std::vector<ArrayCase> array_cases() {
  std::vector<ArrayCase> cases;
  for (const DType dtype : all_dtypes()) {
    for (const json& one : vectors("arrays/" + std::string(name_of(dtype)) + ".json", "cases")) {
      ArrayCase array{static_cast<std::size_t>(dtype), "", one["shape"].get<std::vector<std::size_t>>(),
                      one["objects"]};
      array.shape = choices({array.sizes.size()});
      for (const std::size_t size : array.sizes) {
        array.shape += choices({size});
      }
      if (array.sizes.size() < 4 && std::ranges::all_of(array.sizes, [](std::size_t size) { return size < 256; })) {
        cases.push_back(std::move(array));
      }
    }
  }
  return cases;
}

json buffer_of(const ArrayCase& array, const char* form) {
  return json::parse(array.objects[form].get<std::string>())["data"]["buffer"];
}

Seeds accept_seeds() {
  Seeds seeds;
  for (const json& one : vectors("grammar.json", "accept")) {
    if (one["accept"].is_string()) {
      seeds.push_back(choices({seeds.size() % 3, seeds.size() % 2, 1}) + one["accept"].get<std::string>());
    }
  }
  return seeds;
}

Seeds array_base64_seeds() {
  Seeds seeds;
  for (const ArrayCase& array : array_cases()) {
    for (const std::size_t is_compressed : {0U, 1U}) {
      seeds.push_back(choices({array.dtype}) + array.shape + choices({is_compressed}) +
                      buffer_of(array, is_compressed == 1 ? "base64+lz4" : "base64").get<std::string>());
    }
  }
  return seeds;
}

Seeds array_encodings_seeds() {
  Seeds seeds;
  for (const ArrayCase& array : array_cases()) {
    seeds.push_back(choices({array.dtype, seeds.size() % 6}) +
                    decoded_base64(buffer_of(array, "base64").get<std::string>()));
  }
  return seeds;
}

Seeds array_json_seeds() {
  Seeds seeds;
  for (const ArrayCase& array : array_cases()) {
    seeds.push_back(choices({array.dtype}) + array.shape + choices({array.dtype, seeds.size() % 5}) +
                    buffer_of(array, "json").dump());
  }
  return seeds;
}

Seeds array_lz4_seeds() {
  Seeds seeds;
  for (const ArrayCase& array : array_cases()) {
    const std::size_t size = decoded_base64(buffer_of(array, "base64").get<std::string>()).size();
    seeds.push_back(choices({size >> 8U, size & 0xFFU}) +
                    decoded_base64(buffer_of(array, "base64+lz4").get<std::string>()));
  }
  // Long enough for matches, and for more than one block.
  for (const std::size_t size : {1000U, 65535U}) {
    std::string bytes(size, 'a');
    for (std::size_t i = 0; i < size; i += 7) {
      bytes[i] = static_cast<char>(i);
    }
    const Buffer frame = lz4_compress(std::as_bytes(std::span(bytes)));
    seeds.push_back(choices({size >> 8U, size & 0xFFU}) +
                    std::string(reinterpret_cast<const char*>(frame.data()), frame.size_bytes()));
  }
  return seeds;
}

// Array objects whose members come in the usual order, in small pieces and large ones.
Seeds arriving_text_seeds() {
  Seeds seeds;
  for (const ArrayCase& array : array_cases()) {
    for (const auto& [form, text] : array.objects.items()) {
      seeds.push_back(std::string(1, static_cast<char>(seeds.size() % 2 == 0 ? 6 : 200)) + choices({array.dtype, 0}) +
                      text.get<std::string>());
    }
  }
  return seeds;
}

Seeds array_object_seeds() {
  Seeds seeds;
  for (const ArrayCase& array : array_cases()) {
    for (const auto& [form, text] : array.objects.items()) {
      seeds.push_back(choices({array.dtype, 0}) + text.get<std::string>());
    }
  }
  for (const json& one : vectors("coercion.json", "cases")) {
    const auto dtype = find_dtype(one["dtype"].is_string() ? one["dtype"].get<std::string>() : "");
    seeds.push_back(choices({dtype ? static_cast<std::size_t>(*dtype) : kDTypeCount, seeds.size() % 5}) +
                    one["input"].get<std::string>());
  }
  return seeds;
}

Seeds binref_path_seeds() {
  Seeds seeds;
  for (const json& one : vectors("grammar.json", "binref_buffer")) {
    seeds.push_back(choices({4, 0}) + one["buffer"].get<std::string>());
  }
  for (const char* const path : {"a.bin:0",
                                 "sub/b.bin:8",
                                 "sub/../a.bin",
                                 "../out/a.bin",
                                 "here",
                                 "up",
                                 "folder/a.bin",
                                 "back",
                                 "whole",
                                 "root/etc/passwd",
                                 "loop",
                                 "sub/parent/a.bin",
                                 "sub/parent/../out/a.bin",
                                 "$ROOT/a.bin",
                                 "$ROOT/../out/a.bin",
                                 "$ROOTside/a.bin",
                                 "./a.bin:63",
                                 "empty",
                                 ":0",
                                 "/etc/passwd",
                                 "file:///etc/passwd",
                                 "a.bin:0:16"}) {
    seeds.push_back(choices({4, seeds.size() % 2}) + path);
  }
  return seeds;
}

Seeds chunked_body_seeds() {
  return {choices({0}) + "0\r\n\r\n", choices({1}) + "5\r\nhello\r\n0\r\n\r\n",
          choices({3}) + "a;name=\"va;l\"\r\n0123456789\r\n00\r\nTrailer: x\r\n\r\nGET / HTTP/1.1\r\n",
          choices({200}) + "FFFFFFFFFFFFFFFF\r\n", choices({7}) + "1\r\na\r\n1 \r\nb\r\n0\r\n\r\n"};
}

Seeds descriptor_seeds() {
  Seeds seeds;
  for (const json& one : vectors("grammar.json", "cuda_ipc_buffer")) {
    seeds.push_back(one["buffer"].get<std::string>());
  }
  return seeds;
}

Seeds exports_done_seeds() {
  return {"\x80", "\x80,\x81,\x82", "\x80,,\x80, \x81", "0123456789abcdef0123456789abcdef,\x87", ",", "\x80\x81"};
}

Seeds gradient_path_seeds() {
  Seeds seeds{"arrays.[0]", "fields.{p}", "nested.inner.values", "points.[0].position", R"(fields.{\{x\}})"};
  for (const json& one : vectors("grammar.json", "gradient_path")) {
    seeds.push_back(one["path"].get<std::string>());
  }
  for (const json& one : vectors("grammar.json", "dict_key_escape")) {
    seeds.push_back("fields.{" + one["escaped"].get<std::string>() + "}");
  }
  return seeds;
}

// A request of the golden exchanges as it stands on the wire.
std::string request_text(const json& request) {
  const auto text_of = [&request](const char* key) {
    return request.contains(key) && request[key].is_string() ? request[key].get<std::string>() : std::string();
  };
  const std::string body = text_of("body");
  std::string text = text_of("method") + " " + text_of("target") + " HTTP/1.1\r\nHost: localhost\r\n";
  for (const json& header : request.value("headers", json::array())) {
    text += header[0].get<std::string>() + ": " + header[1].get<std::string>() + "\r\n";
  }
  return text + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

template <class Use>
void for_each_exchange(Use use) {
  for (const char* const file : {"http/default.json", "http/debug.json", "http/sdk.json", "http/sdk_gpu.json"}) {
    for (const json& exchange : vectors(file, "exchanges")) {
      use(exchange);
    }
  }
}

Seeds http_request_seeds() {
  Seeds seeds;
  for_each_exchange(
      [&seeds](const json& exchange) { seeds.push_back(choices({seeds.size()}) + request_text(exchange["request"])); });
  const std::string get = "GET /health HTTP/1.1\r\nHost: h\r\n\r\n";
  seeds.push_back(choices({0}) + get + get + get);
  seeds.push_back(choices({5}) +
                  "POST /apply HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + get);
  seeds.push_back(choices({9}) +
                  "POST /apply HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbody");
  seeds.push_back(choices({2}) + "HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + get);
  seeds.push_back(choices({2}) + "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n");
  return seeds;
}

Seeds payload_seeds() {
  Seeds seeds{"@p.json", "p.json", R"({"inputs": {"f64": [1, 2]}})", R"({"inputs": {"f64": [1,, 2]}})", " \n"};
  for (const char* const file : {"example_inputs.json", "example_inputs_vjp.json"}) {
    seeds.push_back(file_text(std::string("examples/everything/") + file));
  }
  return seeds;
}

Seeds request_body_seeds() {
  Seeds seeds;
  seeds.push_back(choices({0, 0}) + file_text("examples/everything/example_inputs.json"));
  seeds.push_back(choices({0, 3}) + file_text("examples/everything/example_inputs_vjp.json"));
  seeds.push_back(choices({1, 0}) + file_text("examples/univariate/example_inputs.json"));
  seeds.push_back(choices({1, 1}) + file_text("examples/univariate/example_inputs_jacobian.json"));
  seeds.push_back(choices({2, 0}) + file_text("examples/vectoradd/example_inputs.json"));
  seeds.push_back(choices({2, 0}) + file_text("examples/vectoradd/example_inputs_b64.json"));
  seeds.push_back(
      choices({0, 2}) +
      R"({"inputs":{"f64":[1,2]},"jvp_inputs":["f64"],"jvp_outputs":["f64"],"tangent_vector":{"f64":[1,0]}})");
  seeds.push_back(choices({0, 4}) + R"({"inputs":{"f64":{"shape":[4],"dtype":"float64"}}})");
  static constexpr std::string_view kNames[] = {"/apply", "/jacobian", "/jacobian_vector_product",
                                                "/vector_jacobian_product", "/abstract_eval"};
  for_each_exchange([&seeds](const json& exchange) {
    const json& request = exchange["request"];
    const auto target = request["target"].get<std::string>();
    const auto* const name = std::ranges::find(kNames, std::string_view(target).substr(0, target.find('?')));
    if (name != std::end(kNames) && request.contains("body") && request["body"].is_string()) {
      seeds.push_back(choices({3, static_cast<std::size_t>(name - std::begin(kNames))}) +
                      request["body"].get<std::string>());
    }
  });
  return seeds;
}

Seeds request_target_seeds() {
  Seeds seeds{choices({0}) + "/heat/apply?run_id=j%31&run_id=a+b", choices({1}) + "http://host/wave.2/apply/",
              choices({2}) + "//heat//", choices({0}) + "/%2e%2e/%zz"};
  for_each_exchange([&seeds](const json& exchange) {
    seeds.push_back(choices({1}) + exchange["request"]["target"].get<std::string>());
  });
  return seeds;
}

template <class Use>
void for_each_response(Use use) {
  for_each_exchange([&use](const json& exchange) {
    const json& response = exchange["response"];
    if (response.contains("body") && response["body"].is_string()) {
      use(response["status"].get<int>(), response["body"].get<std::string>());
    }
  });
}

Seeds response_http_seeds() {
  Seeds seeds{choices({3}) + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
              choices({5}) + "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
              choices({7}) + "HTTP/1.0 200 OK\r\n\r\nto the end",
              choices({9}) + "HTTP/1.1 307 x\r\nLocation: /apply\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"};
  for_each_response([&seeds](int status, const std::string& body) {
    seeds.push_back(choices({seeds.size()}) + "HTTP/1.1 " + std::to_string(status) +
                    " x\r\nContent-Type: application/json\r\nTesseract-Exports: 0123\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n\r\n" + body);
  });
  return seeds;
}

Seeds response_value_seeds() {
  Seeds seeds{R"({"y":{"object_type":"array","shape":[8],"dtype":"float64","data":)"
              R"({"buffer":"run_1/a.bin:0","encoding":"binref"}}})"};
  for_each_response([&seeds](int /*status*/, const std::string& body) { seeds.push_back(body); });
  return seeds;
}

Seeds server_document_seeds() {
  Seeds seeds{R"({"paths":{"/apply":{}},"components":{"schemas":{)"
              R"("ApplyInputSchema":{"properties":{"inputs":{"$ref":"#/components/schemas/I"}}},"I":{},)"
              R"("ApplyOutputSchema":{"$ref":"#/components/schemas/O"},"O":{"$ref":"x/O"}}},)"
              R"("x-supported-output-formats":["json","json+base64"],"x-supported-gpu-transports":["none"],)"
              R"("x-supported-compressions":["lz4"]})"};
  for_each_response([&seeds](int /*status*/, const std::string& body) {
    if (body.find("openapi") != std::string::npos) {
      seeds.push_back(body);
    }
  });
  return seeds;
}

Seeds test_spec_seeds() {
  Seeds seeds{
      choices({2}) + R"({"endpoint":"apply","payload":{"inputs":{"a":[1],"b":[2]}},"expected_outputs":{"c":[3]}})",
      choices({1}) + R"({"endpoint":"jacobian","payload":{"inputs":{},"jac_inputs":["x"],"jac_outputs":["result"]},)"
                     R"("expected_exception":"builtins.ValueError","expected_exception_regex":"a+","atol":1e-3})"};
  for_each_exchange([&seeds](const json& exchange) {
    const json& request = exchange["request"];
    if (request["target"].get<std::string>().starts_with("/test") && request.contains("body") &&
        request["body"].is_string()) {
      seeds.push_back(choices({0}) + request["body"].get<std::string>());
    }
  });
  return seeds;
}

Seeds words_seeds() {
  return {"90s",
          "7d",
          "8000-8010",
          "serv",
          "true",
          "-inf",
          "1e400",
          "(1+2j)",
          "1_000",
          "json+base64",
          "http://user:pass@host:8000/heat/",
          "http://[::1]:80",
          "unix:///tmp/socket",
          "http+unix://%2ftmp%2fs/heat",
          R"(g++ "a b" 'c d' e\ f)",
          "\xc3\xa9%2B+ &="};
}

const std::map<std::string, std::function<Seeds()>, std::less<>>& makers() {
  static const std::map<std::string, std::function<Seeds()>, std::less<>> kMakers{
      {"accept", accept_seeds},
      {"array_base64", array_base64_seeds},
      {"array_encodings", array_encodings_seeds},
      {"array_json", array_json_seeds},
      {"array_lz4", array_lz4_seeds},
      {"array_object", array_object_seeds},
      {"binref_path", binref_path_seeds},
      {"chunked_body", chunked_body_seeds},
      {"descriptor", descriptor_seeds},
      {"arriving_text", arriving_text_seeds},
      {"exports_done", exports_done_seeds},
      {"gradient_path", gradient_path_seeds},
      {"http_session", http_request_seeds},
      {"payload", payload_seeds},
      {"request_body", request_body_seeds},
      {"request_head", http_request_seeds},
      {"request_target", request_target_seeds},
      {"response_http", response_http_seeds},
      {"response_value", response_value_seeds},
      {"server_document", server_document_seeds},
      {"test_spec", test_spec_seeds},
      {"words", words_seeds},
  };
  return kMakers;
}

}  // namespace

std::vector<std::string> seeds_of(std::string_view target) {
  const auto maker = makers().find(target);
  if (maker == makers().end()) {
    return {};
  }
  Seeds seeds = maker->second();
  std::erase_if(seeds, [](const std::string& seed) { return seed.size() > kMaxSeedBytes; });
  return seeds;
}

}  // namespace tessera::fuzzing
