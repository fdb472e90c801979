#include "client.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gil.h"
#include "owners.h"
#include "tessera/sdk/tesseract.h"
#include "values.h"

namespace tessera::python {
namespace {

namespace nb = nanobind;
using Names = std::vector<std::string>;
using Text = std::optional<std::string>;

std::optional<std::chrono::milliseconds> milliseconds_of(std::optional<double> seconds, const char* name) {
  if (!seconds) {
    return std::nullopt;
  }
  if (!(*seconds > 0) || *seconds > 1e9) {
    PyErr_SetString(PyExc_ValueError, (std::string(name) + " must be seconds, more than 0 and at most 1e9").c_str());
    throw nb::python_error();
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(*seconds * 1000)));
}

nb::list items_of(const std::vector<RefusedItem>& items) {
  nb::list list;
  for (const RefusedItem& item : items) {
    nb::dict entry;
    entry["type"] = nb::cast(item.type);
    nb::list place;
    for (const Value& part : item.place) {
      place.append(python_value(part));
    }
    entry["loc"] = nb::tuple(place);
    entry["msg"] = nb::cast(item.message);
    entry["input"] = python_value(item.input);
    if (!item.context.is_null()) {
      entry["ctx"] = python_value(item.context);
    }
    list.append(entry);
  }
  return list;
}

const char* kind_name(ClientError::Kind kind) {
  switch (kind) {
    case ClientError::Kind::kInvalidArgument:
      return "invalid_argument";
    case ClientError::Kind::kNotImplemented:
      return "not_implemented";
    case ClientError::Kind::kConnection:
      return "connection";
    case ClientError::Kind::kTimeout:
      return "timeout";
    case ClientError::Kind::kCancelled:
      return "cancelled";
    case ClientError::Kind::kRefused:
      return "refused";
    case ClientError::Kind::kStatus:
      return "status";
    case ClientError::Kind::kBadResponse:
      return "bad_response";
    case ClientError::Kind::kGpu:
      return "gpu";
    case ClientError::Kind::kTestFailed:
      return "test_failed";
  }
  return "status";
}

// Raises what `tessera.errors` makes of an error.
[[noreturn]] void raise(const ClientError& error) {
  const nb::object make = nb::module_::import_("tessera.errors").attr("_exception_of");
  const nb::object status = error.status() ? nb::cast(*error.status()) : nb::none();
  const nb::object exception = make(kind_name(error.kind()), std::string(error.what()).c_str(), status,
                                    error.title().c_str(), items_of(error.items()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

// Runs a part of a call without the GIL; its errors become exceptions of Python.
template <class Work>
auto run(Work work) -> decltype(work()) {
  std::optional<ClientError> failure;
  try {
    const GilReleased released;
    return work();
  } catch (const ClientError& error) {
    failure = error;
  }
  raise(*failure);
}

// Has an answer made without the GIL, and hands it to Python.
template <class Work>
nb::object value_from(Work work) {
  return python_value(run(std::move(work)));
}

nb::object names_or_none(const ServerCapabilities::Names& names) {
  if (!names) {
    return nb::none();
  }
  nb::list list;
  for (const std::string& name : *names) {
    list.append(nb::cast(name));
  }
  return nb::tuple(list);
}

CallOptions with_run_id(const Text& run_id) {
  CallOptions call;
  call.run_id = run_id;
  return call;
}

std::function<void(std::string_view)> warner() {
  return [](std::string_view sentence) {
    with_gil([text = std::string(sentence)] {
      // The frame above is the package's own, the one above it is its caller's.
      if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 2) != 0) {
        throw nb::python_error();
      }
    });
  };
}

std::function<void()> signal_checker() {
  return [] {
    with_gil([] {
      if (PyErr_CheckSignals() != 0) {
        throw nb::python_error();
      }
    });
  };
}

std::function<void(std::uint64_t, std::uint64_t)> progress_of(nb::handle callback) {
  return [owner = owner_of(callback)](std::uint64_t done, std::uint64_t total) {
    with_gil([&] { nb::handle(static_cast<PyObject*>(owner.get()))(done, total); });
  };
}

Tesseract connect(const std::string& url, const Text& server_output_path, const Text& server_input_path,
                  std::optional<double> connect_seconds, std::optional<double> read_seconds, bool borrows,
                  nb::handle progress, std::uint64_t progress_from_bytes) {
  ClientOptions options;
  options.timeouts.connect = milliseconds_of(connect_seconds, "timeout");
  options.timeouts.read = milliseconds_of(read_seconds, "timeout");
  if (server_output_path) {
    options.server_output_path = *server_output_path;
  }
  if (server_input_path) {
    options.server_input_path = *server_input_path;
  }
  options.borrows_gpu_arrays = borrows;
  options.warn = warner();
  options.on_signal = signal_checker();
  if (!progress.is_none()) {
    options.progress = progress_of(progress);
    options.progress_from_bytes = progress_from_bytes;
  }
  return run([&] { return Tesseract::from_url(url, std::move(options)); });
}

}  // namespace

void add_client(nb::module_& module) {
  nb::class_<Tesseract>(module, "Client")
      .def_static("connect", connect, nb::arg("url"), nb::arg("server_output_path").none(),
                  nb::arg("server_input_path").none(), nb::arg("connect_seconds").none(),
                  nb::arg("read_seconds").none(), nb::arg("borrows_gpu_arrays"), nb::arg("progress").none(),
                  nb::arg("progress_from_bytes"))
      .def(
          "apply",
          [](const Tesseract& self, nb::handle inputs, const Text& run_id) {
            const Object object = object_of(inputs);
            return value_from([&] { return self.apply(object, with_run_id(run_id)); });
          },
          nb::arg("inputs").none(), nb::arg("run_id").none())
      .def(
          "jacobian",
          [](const Tesseract& self, nb::handle inputs, const Names& by, const Names& of, const Text& run_id) {
            const Object object = object_of(inputs);
            return value_from([&] { return self.jacobian(object, by, of, with_run_id(run_id)); });
          },
          nb::arg("inputs").none(), nb::arg("jac_inputs"), nb::arg("jac_outputs"), nb::arg("run_id").none())
      .def(
          "jacobian_vector_product",
          [](const Tesseract& self, nb::handle inputs, const Names& by, const Names& of, nb::handle vector,
             const Text& run_id) {
            const Object object = object_of(inputs);
            const Object tangent = object_of(vector);
            return value_from(
                [&] { return self.jacobian_vector_product(object, by, of, tangent, with_run_id(run_id)); });
          },
          nb::arg("inputs").none(), nb::arg("jvp_inputs"), nb::arg("jvp_outputs"), nb::arg("tangent_vector").none(),
          nb::arg("run_id").none())
      .def(
          "vector_jacobian_product",
          [](const Tesseract& self, nb::handle inputs, const Names& by, const Names& of, nb::handle vector,
             const Text& run_id) {
            const Object object = object_of(inputs);
            const Object cotangent = object_of(vector);
            return value_from(
                [&] { return self.vector_jacobian_product(object, by, of, cotangent, with_run_id(run_id)); });
          },
          nb::arg("inputs").none(), nb::arg("vjp_inputs"), nb::arg("vjp_outputs"), nb::arg("cotangent_vector").none(),
          nb::arg("run_id").none())
      .def(
          "abstract_eval",
          [](const Tesseract& self, nb::handle inputs) {
            const Object object = object_of(inputs);
            return value_from([&] { return self.abstract_eval(object); });
          },
          nb::arg("abstract_inputs").none())
      .def(
          "test",
          [](const Tesseract& self, nb::handle spec) {
            const Object object = object_of(spec);
            run([&] { self.test(object); });
          },
          nb::arg("test_spec").none())
      .def("health", [](const Tesseract& self) { return value_from([&] { return self.health(); }); })
      .def("available_endpoints", [](const Tesseract& self) { return run([&] { return self.available_endpoints(); }); })
      .def("openapi_schema", [](const Tesseract& self) { return value_from([&] { return self.openapi_schema(); }); })
      .def("input_schema", [](const Tesseract& self) { return value_from([&] { return self.input_schema(); }); })
      .def("output_schema", [](const Tesseract& self) { return value_from([&] { return self.output_schema(); }); })
      .def("server_capabilities",
           [](const Tesseract& self) {
             const ServerCapabilities found = run([&] { return self.server_capabilities(); });
             return nb::make_tuple(names_or_none(found.output_formats), names_or_none(found.gpu_transports),
                                   names_or_none(found.compressions));
           })
      .def(
          "with_encoding",
          [](const Tesseract& self, const Text& output_format, const Text& gpu_transport, const Text& compression) {
            return run([&] { return self.with_encoding({output_format, gpu_transport, compression}); });
          },
          nb::arg("output_format").none(), nb::arg("gpu_transport").none(), nb::arg("compression").none())
      .def("current_encoding",
           [](const Tesseract& self) {
             const RequestedEncoding& encoding = self.current_encoding();
             return nb::make_tuple(encoding.output_format, encoding.gpu_transport, encoding.compression);
           })
      .def("resolve_gpu_transport",
           [](const Tesseract& self) { return run([&] { return self.resolve_gpu_transport(); }); })
      .def("url", [](const Tesseract& self) { return self.url(); })
      .def("close", [](const Tesseract& self) { run([&] { self.close(); }); });
}

}  // namespace tessera::python
