#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c_handles.h"
#include "tessera/base/fork_safe_mutex.h"
#include "tessera/base/mutex.h"
#include "tessera/sdk/tesseract.h"

// NOLINTBEGIN(readability-identifier-naming)
struct tessera_client {
  explicit tessera_client(tessera::Tesseract the_tesseract) : tesseract(std::move(the_tesseract)) {}

  const tessera::Tesseract tesseract;
  tessera::ForkSafeMutex mutex;
  // The names of transports that callers hold.
  std::set<std::string> transports TESSERA_GUARDED_BY(mutex);
};

struct tessera_cancellation {
  tessera::Cancellation cancellation;
};
// NOLINTEND(readability-identifier-naming)

namespace {

using tessera::guarded;
using tessera::new_handle;
using tessera::Object;
using tessera::require_argument;
using tessera::Tesseract;
using tessera::Value;

// The sizes of the structs in the first version that had them: up to what was the last field.
constexpr size_t kOldestClientOptionsBytes =
    offsetof(tessera_client_options, reserved) + sizeof tessera_client_options::reserved;
constexpr size_t kOldestCallOptionsBytes = offsetof(tessera_call_options, cancellation) + sizeof(void*);

// What the caller gave, as this version has it: what it does not say is 0; what this version does not have must be.
template <class Options>
Options read_options(const Options* given, size_t oldest_bytes, const char* name) {
  Options options{};
  if (given == nullptr) {
    return options;
  }
  const size_t size_bytes = given->struct_size_bytes;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  const bool is_too_new = size_bytes > sizeof(Options) && std::any_of(bytes + sizeof(Options), bytes + size_bytes,
                                                                      [](unsigned char byte) { return byte != 0; });
  if (size_bytes < oldest_bytes || is_too_new) {
    throw std::invalid_argument(
        std::string(name) + ".struct_size_bytes is " + std::to_string(size_bytes) +
        (is_too_new ? ", with fields that this version of the library does not have" : ", not that of the struct"));
  }
  std::memcpy(&options, given, std::min(size_bytes, sizeof(Options)));
  return options;
}

std::optional<std::chrono::milliseconds> time_of(uint64_t time_ms) {
  // Longer than anybody waits, and short enough to be added to.
  constexpr uint64_t kLongestMs = uint64_t{1} << 40U;
  return time_ms == 0 ? std::nullopt : std::optional(std::chrono::milliseconds(std::min(time_ms, kLongestMs)));
}

template <class Text>
std::optional<Text> optional_of(const char* text) {
  return text == nullptr ? std::nullopt : std::optional<Text>(text);
}

tessera::ClientOptions client_options(const tessera_client_options* given) {
  const tessera_client_options read = read_options(given, kOldestClientOptionsBytes, "options");
  tessera::ClientOptions options;
  options.timeouts = {time_of(read.connect_timeout_ms), time_of(read.read_timeout_ms), time_of(read.total_timeout_ms)};
  options.server_output_path = optional_of<std::filesystem::path>(read.server_output_path);
  options.server_input_path = optional_of<std::filesystem::path>(read.server_input_path);
  options.borrows_gpu_arrays = read.borrows_gpu_arrays;
  if (read.warn != nullptr) {
    options.warn = [warn = read.warn, context = read.warn_context](std::string_view sentence) {
      warn(std::string(sentence).c_str(), context);
    };
  }
  if (read.max_response_bytes != 0) {
    options.max_response_bytes = read.max_response_bytes;
  }
  if (read.progress != nullptr) {
    options.progress = [progress = read.progress, context = read.progress_context](
                           std::uint64_t done, std::uint64_t total) { progress(done, total, context); };
  }
  if (read.progress_from_bytes != 0) {
    options.progress_from_bytes = read.progress_from_bytes;
  }
  options.exports_idle_time = time_of(read.exports_idle_ms).value_or(options.exports_idle_time);
  return options;
}

tessera::CallOptions call_options(const tessera_call_options* given) {
  const tessera_call_options read = read_options(given, kOldestCallOptionsBytes, "options");
  tessera::CallOptions options;
  options.run_id = optional_of<std::string>(read.run_id);
  if (read.cancellation != nullptr) {
    options.cancellation = read.cancellation->cancellation;
  }
  return options;
}

const Object& object_argument(const tessera_value* value, const char* name) {
  require_argument(value, name);
  return tessera::require_value(value).object();
}

std::vector<std::string> names_argument(const char* const* names, size_t count, const char* what) {
  std::vector<std::string> list;
  for (size_t i = 0; i != count; ++i) {
    require_argument(names, what);
    require_argument(names[i], what);
    list.emplace_back(names[i]);
  }
  return list;
}

Value list_value(const std::vector<std::string>& names) {
  return tessera::List(names.begin(), names.end());
}

Value list_value(const tessera::ServerCapabilities::Names& names) {
  return names ? list_value(*names) : Value();
}

// An entry point that makes a value with a client.
template <class Function>
tessera_status give_value(const tessera_client* client, tessera_value** result, tessera_error** error,
                          const Function& function) {
  return guarded(error, [&] {
    require_argument(client, "client");
    require_argument(result, "result");
    *result = new_handle(function(client->tesseract));
  });
}

// An entry point that lends what the client has.
tessera_status lend_value(const tessera_client* client, const tessera_value** value, tessera_error** error,
                          const Value& (Tesseract::*member)() const) {
  return guarded(error, [&] {
    require_argument(client, "client");
    require_argument(value, "schema");
    *value = tessera::handle_of((client->tesseract.*member)());
  });
}

}  // namespace

tessera_status tessera_cancellation_new(tessera_cancellation** cancellation, tessera_error** error) {
  return guarded(error, [&] {
    require_argument(cancellation, "cancellation");
    *cancellation = new tessera_cancellation();
  });
}

void tessera_cancellation_cancel(const tessera_cancellation* cancellation) {
  static_cast<void>(guarded(nullptr, [&] { cancellation->cancellation.cancel(); }));
}

void tessera_cancellation_release(tessera_cancellation* cancellation) {
  delete cancellation;
}

tessera_status tessera_client_connect(const char* url, const tessera_client_options* options, tessera_client** client,
                                      tessera_error** error) {
  return guarded(error, [&] {
    require_argument(url, "url");
    require_argument(client, "client");
    *client = new tessera_client(Tesseract::from_url(url, client_options(options)));
  });
}

tessera_status tessera_client_with_encoding(const tessera_client* client, const char* output_format,
                                            const char* gpu_transport, const char* compression, tessera_client** view,
                                            tessera_error** error) {
  return guarded(error, [&] {
    require_argument(client, "client");
    require_argument(view, "view");
    *view = new tessera_client(client->tesseract.with_encoding({optional_of<std::string>(output_format),
                                                                optional_of<std::string>(gpu_transport),
                                                                optional_of<std::string>(compression)}));
  });
}

tessera_status tessera_client_resolve_gpu_transport(tessera_client* client, const char** gpu_transport,
                                                    tessera_error** error) {
  return guarded(error, [&] {
    require_argument(client, "client");
    require_argument(gpu_transport, "gpu_transport");
    std::string transport = client->tesseract.resolve_gpu_transport();
    const tessera::MutexLock lock(client->mutex);
    *gpu_transport = client->transports.insert(std::move(transport)).first->c_str();
  });
}

const char* tessera_client_url(const tessera_client* client) {
  return client->tesseract.url().c_str();
}

void tessera_client_close(const tessera_client* client) {
  client->tesseract.close();
}

void tessera_client_release(tessera_client* client) {
  delete client;
}

tessera_status tessera_client_apply(const tessera_client* client, const tessera_value* inputs,
                                    const tessera_call_options* options, tessera_value** result,
                                    tessera_error** error) {
  return give_value(client, result, error, [&](const Tesseract& tesseract) {
    return tesseract.apply(object_argument(inputs, "inputs"), call_options(options));
  });
}

tessera_status tessera_client_jacobian(const tessera_client* client, const tessera_value* inputs,
                                       const char* const* jac_inputs, size_t jac_input_count,
                                       const char* const* jac_outputs, size_t jac_output_count,
                                       const tessera_call_options* options, tessera_value** result,
                                       tessera_error** error) {
  return give_value(client, result, error, [&](const Tesseract& tesseract) {
    return tesseract.jacobian(object_argument(inputs, "inputs"),
                              names_argument(jac_inputs, jac_input_count, "jac_inputs"),
                              names_argument(jac_outputs, jac_output_count, "jac_outputs"), call_options(options));
  });
}

tessera_status tessera_client_jacobian_vector_product(const tessera_client* client, const tessera_value* inputs,
                                                      const char* const* jvp_inputs, size_t jvp_input_count,
                                                      const char* const* jvp_outputs, size_t jvp_output_count,
                                                      const tessera_value* tangent_vector,
                                                      const tessera_call_options* options, tessera_value** result,
                                                      tessera_error** error) {
  return give_value(client, result, error, [&](const Tesseract& tesseract) {
    return tesseract.jacobian_vector_product(object_argument(inputs, "inputs"),
                                             names_argument(jvp_inputs, jvp_input_count, "jvp_inputs"),
                                             names_argument(jvp_outputs, jvp_output_count, "jvp_outputs"),
                                             object_argument(tangent_vector, "tangent_vector"), call_options(options));
  });
}

tessera_status tessera_client_vector_jacobian_product(const tessera_client* client, const tessera_value* inputs,
                                                      const char* const* vjp_inputs, size_t vjp_input_count,
                                                      const char* const* vjp_outputs, size_t vjp_output_count,
                                                      const tessera_value* cotangent_vector,
                                                      const tessera_call_options* options, tessera_value** result,
                                                      tessera_error** error) {
  return give_value(client, result, error, [&](const Tesseract& tesseract) {
    return tesseract.vector_jacobian_product(
        object_argument(inputs, "inputs"), names_argument(vjp_inputs, vjp_input_count, "vjp_inputs"),
        names_argument(vjp_outputs, vjp_output_count, "vjp_outputs"),
        object_argument(cotangent_vector, "cotangent_vector"), call_options(options));
  });
}

tessera_status tessera_client_abstract_eval(const tessera_client* client, const tessera_value* abstract_inputs,
                                            const tessera_call_options* options, tessera_value** result,
                                            tessera_error** error) {
  return give_value(client, result, error, [&](const Tesseract& tesseract) {
    return tesseract.abstract_eval(object_argument(abstract_inputs, "abstract_inputs"), call_options(options));
  });
}

tessera_status tessera_client_test(const tessera_client* client, const tessera_value* test_spec,
                                   const tessera_call_options* options, tessera_error** error) {
  return guarded(error, [&] {
    require_argument(client, "client");
    client->tesseract.test(object_argument(test_spec, "test_spec"), call_options(options));
  });
}

tessera_status tessera_client_health(const tessera_client* client, const tessera_call_options* options,
                                     tessera_value** result, tessera_error** error) {
  return give_value(client, result, error,
                    [&](const Tesseract& tesseract) { return tesseract.health(call_options(options)); });
}

tessera_status tessera_client_available_endpoints(const tessera_client* client, tessera_value** endpoints,
                                                  tessera_error** error) {
  return give_value(client, endpoints, error,
                    [](const Tesseract& tesseract) { return list_value(tesseract.available_endpoints()); });
}

tessera_status tessera_client_server_capabilities(const tessera_client* client, tessera_value** capabilities,
                                                  tessera_error** error) {
  return give_value(client, capabilities, error, [](const Tesseract& tesseract) {
    const tessera::ServerCapabilities& all = tesseract.server_capabilities();
    return Object{{"output_formats", list_value(all.output_formats)},
                  {"gpu_transports", list_value(all.gpu_transports)},
                  {"compressions", list_value(all.compressions)}};
  });
}

tessera_status tessera_client_openapi_schema(const tessera_client* client, const tessera_value** schema,
                                             tessera_error** error) {
  return lend_value(client, schema, error, &Tesseract::openapi_schema);
}

tessera_status tessera_client_input_schema(const tessera_client* client, const tessera_value** schema,
                                           tessera_error** error) {
  return lend_value(client, schema, error, &Tesseract::input_schema);
}

tessera_status tessera_client_output_schema(const tessera_client* client, const tessera_value** schema,
                                            tessera_error** error) {
  return lend_value(client, schema, error, &Tesseract::output_schema);
}
