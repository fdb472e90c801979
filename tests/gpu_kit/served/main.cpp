// Calls Tesseracts that the kit's own tessera serves: identity with arrays on the GPU, and vectoradd_cuda, compared
// with vectoradd.
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "exporter/byte_arrays.h"
#include "rows/rows.h"
#include "served/http_client.h"
#include "served/server.h"
#include "served/wire_array.h"
#include "tessera/base/clock.h"
#include "tessera/cuda/driver_functions.h"
#include "tessera/ipc/gpu_transport.h"

namespace tessera::gpu_kit {
namespace {

using Json = nlohmann::json;
constexpr const char* kHostArrays = "Accept: application/json+base64\r\n";
constexpr const char* kGpuArrays =
    "Accept: application/json+base64; gpu_transport=cuda_ipc\r\nTesseract-Exports-Done: \r\n";

class Calls {
 public:
  Calls(std::shared_ptr<GpuSystem> gpus, Rows& rows) : gpus_(std::move(gpus)), rows_(rows) {}

  void run_identity() {
    check("identity hands an array on the GPU back", [this] { hand_back(std::size_t{1} << 20U); });
    check("nothing stays pinned once the client is done", [this] { expect_no_leases(); });
  }

  void run_vectoradd() {
    for (const std::int64_t size : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{1'000'003}}) {
      const std::string vectors = " of vectors of " + std::to_string(size);
      check("vectoradd_cuda gives the sum" + vectors, [this, size] { compare_apply(size, false, false); });
      check("the sum of length one" + vectors, [this, size] { compare_apply(size, true, false); });
      check("the sum on the GPU" + vectors + " on the GPU", [this, size] { compare_apply(size, true, true); });
      check("the products with the Jacobian" + vectors, [this, size] { compare_gradients(size); });
    }
    check("nothing stays pinned after vectoradd_cuda", [this] { expect_no_leases(); });
  }

 private:
  void check(const std::string& name, const std::function<void()>& test) {
    try {
      test();
      rows_.passed(name);
    } catch (const std::exception& error) {
      rows_.failed(name, error.what());
    }
  }

  // The named output of a call; what the server exported for it is named done.
  Array call(const std::string& path, const Json& body, const char* accept, const std::string& output) {
    const HttpAnswer answer = client_.post(path, body.dump(), accept);
    if (answer.status != 200) {
      throw std::runtime_error("POST " + path + " gives " + std::to_string(answer.status) + ": " +
                               answer.body.substr(0, 300));
    }
    Array array = read_array(Json::parse(answer.body).at(output), *transport_);
    if (const auto id = answer.headers.find("tesseract-exports"); id != answer.headers.end()) {
      static_cast<void>(client_.get("/health", "Tesseract-Exports-Done: " + id->second + "\r\n"));
    }
    return array;
  }

  void hand_back(std::size_t size_bytes) {
    Array host = Array::allocate(DType::kFloat32, {static_cast<std::int64_t>(size_bytes / sizeof(float))});
    for (float& value : host.mutable_values<float>()) {
      value = static_cast<float>(random_());
    }
    const Array array = on_gpu(host);
    const ExportedArray exported = must(transport_->export_array(array));
    const Array back = call("/identity/apply", {{"inputs", {{"x", to_reference(array, exported)}}}}, kGpuArrays, "x");
    if (!back.is_on_device()) {
      throw std::runtime_error("it came back in host memory");
    }
    const Array copy = must(back.to_host());
    if (!std::ranges::equal(copy.bytes(), host.bytes())) {
      throw std::runtime_error("the bytes differ");
    }
  }

  void expect_no_leases() {
    const Json leases = Json::parse(client_.get("/leases").body);
    if (leases.at("bytes") != 0) {
      throw std::runtime_error("there are leases: " + leases.dump().substr(0, 300));
    }
  }

  Array on_gpu(const Array& host) { return must(gpus_->to_device(host, gpus_->gpus().front()->uuid())); }

  Array random_vector(std::int64_t size) {
    Array vector = Array::allocate(DType::kFloat64, {size});
    std::normal_distribution<double> distribution;
    for (double& value : vector.mutable_values<double>()) {
      value = distribution(random_);
    }
    return vector;
  }

  void compare_arrays(const Array& actual, const Array& expected) {
    const Array host = must(actual.to_host());
    if (host.shape() != expected.shape()) {
      throw std::runtime_error("the shapes differ");
    }
    const auto ours = host.values<double>();
    const auto theirs = expected.values<double>();
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (!(std::abs(ours[i] - theirs[i]) <= 1e-12 * (1.0 + std::abs(theirs[i])))) {
        throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(ours[i]) + " in place of " +
                                 std::to_string(theirs[i]));
      }
    }
  }

  void compare_apply(std::int64_t size, bool normalize, bool is_on_gpu) {
    const Array a = random_vector(size);
    const Array b = random_vector(size);
    const auto body = [normalize](const Json& first, const Json& second) {
      return Json{{"inputs", {{"a", first}, {"b", second}, {"s", 0.75}, {"normalize", normalize}}}};
    };
    const Json on_host = body(to_base64(a), to_base64(b));
    const Array expected = call("/vectoradd/apply", on_host, kHostArrays, "result");
    if (!is_on_gpu) {
      compare_arrays(call("/vectoradd_cuda/apply", on_host, kHostArrays, "result"), expected);
      return;
    }
    const Array gpu_a = on_gpu(a);
    const Array gpu_b = on_gpu(b);
    const ExportedArray exported_a = must(transport_->export_array(gpu_a));
    const ExportedArray exported_b = must(transport_->export_array(gpu_b));
    const Json references = body(to_reference(gpu_a, exported_a), to_reference(gpu_b, exported_b));
    const Array result = call("/vectoradd_cuda/apply", references, kGpuArrays, "result");
    if (!result.is_on_device()) {
      throw std::runtime_error("the result came in host memory");
    }
    compare_arrays(result, expected);
  }

  void compare_gradients(std::int64_t size) {
    Json body{{"inputs",
               {{"a", to_base64(random_vector(size))}, {"b", to_base64(random_vector(size))}, {"normalize", true}}}};
    Json forward = body;
    forward["jvp_inputs"] = {"a", "b"};
    forward["jvp_outputs"] = {"result"};
    forward["tangent_vector"] = {{"a", to_base64(random_vector(size))}, {"b", to_base64(random_vector(size))}};
    Json backward = body;
    backward["vjp_inputs"] = {"a", "s"};
    backward["vjp_outputs"] = {"result"};
    backward["cotangent_vector"] = {{"result", to_base64(random_vector(size))}};
    compare_route("/jacobian_vector_product", forward, "result");
    compare_route("/vector_jacobian_product", backward, "a");
    compare_route("/vector_jacobian_product", backward, "s");
  }

  void compare_route(const std::string& route, const Json& body, const std::string& output) {
    compare_arrays(call("/vectoradd_cuda" + route, body, kHostArrays, output),
                   call("/vectoradd" + route, body, kHostArrays, output));
  }

  std::shared_ptr<GpuSystem> gpus_;
  Rows& rows_;
  std::unique_ptr<GpuTransport> transport_ = make_cuda_ipc(gpus_);
  Server server_{{"identity", "vectoradd", KIT_HAS_KERNELS ? "vectoradd_cuda" : "univariate"}};
  HttpClient client_{server_.socket()};
  std::mt19937_64 random_{1};
};

// Why vectoradd_cuda cannot run here, though a driver is there; empty if it can.
std::string kernel_problem(const GpuSystem& gpus) {
  if (!KIT_HAS_KERNELS) {
    return "the kit was built without kernels: " KIT_NO_KERNELS;
  }
  const Driver& driver = gpus.gpus().front()->driver();
  return driver.functions().launch_kernel == nullptr ? "the driver " + driver.library_path() + " runs no kernels" : "";
}

int run() {
  Rows rows;
  const SystemClock clock;
  const std::shared_ptr<GpuSystem> gpus = GpuSystem::open({}, clock);
  if (const std::optional<TransportProblem>& problem = gpus->problem()) {
    rows.skipped("served Tesseracts", problem->sentence);
    return 0;
  }
  try {
    Calls calls(gpus, rows);
    calls.run_identity();
    if (const std::string problem = kernel_problem(*gpus); problem.empty()) {
      calls.run_vectoradd();
    } else {
      rows.skipped("vectoradd_cuda", problem);
    }
  } catch (const std::exception& error) {
    rows.failed("tessera serve", error.what());
  }
  return rows.has_failed() ? 1 : 0;
}

}  // namespace
}  // namespace tessera::gpu_kit

int main() {
  return tessera::gpu_kit::run();
}
