#include <utility>

#include "openapi_components.h"

namespace tessera {
namespace {

OpenApiJson dtype_names(const std::optional<DType>& castable_to) {
  OpenApiJson names = OpenApiJson::array();
  for (const DType dtype : all_dtypes()) {
    if (!castable_to || is_castable(dtype, *castable_to)) {
      names.push_back(name_of(dtype));
    }
  }
  return names;
}

OpenApiJson axis_schema(std::int64_t size) {
  if (size == kFreeAxis) {
    return {{"type", "integer"}, {"minimum", 0.0}};
  }
  if (size == 1) {
    return {{"type", "integer"}, {"const", 1}};
  }
  return {{"type", "integer"}, {"enum", {1, size}}};
}

OpenApiJson shape_schema(const std::optional<Shape>& shape) {
  OpenApiJson schema = OpenApiJson::object();
  if (!shape) {
    schema["items"] = {{"type", "integer"}};
    schema["type"] = "array";
  } else {
    OpenApiJson axes = OpenApiJson::array();
    for (const std::int64_t size : *shape) {
      axes.push_back(axis_schema(size));
    }
    if (!axes.empty()) {
      schema["prefixItems"] = std::move(axes);
    }
    schema["type"] = "array";
    schema["maxItems"] = shape->size();
    schema["minItems"] = shape->size();
  }
  schema["title"] = "Shape";
  schema["description"] = "Shape of the array";
  if (shape) {
    OpenApiJson example = OpenApiJson::array();
    for (const std::int64_t size : *shape) {
      example.push_back(size == kFreeAxis ? 1 : size);
    }
    schema["examples"] = OpenApiJson::array({std::move(example)});
  }
  return schema;
}

OpenApiJson dtype_schema(const std::optional<DType>& dtype) {
  OpenApiJson schema = {{"type", "string"}};
  OpenApiJson names = dtype_names(dtype);
  if (names.size() == 1) {
    schema["const"] = names.front();
  } else {
    schema["enum"] = std::move(names);
  }
  schema["title"] = "Dtype";
  schema["description"] = "Data type of the array";
  schema["examples"] = OpenApiJson::array({name_of(dtype.value_or(DType::kFloat64))});
  return schema;
}

OpenApiJson data_schema() {
  const auto path = [](const char* name) { return "#/components/schemas/" + std::string(name); };
  OpenApiJson options = OpenApiJson::array();
  for (const char* name : {"BinrefArrayData", "Base64ArrayData", "JsonArrayData", "CudaIpcArrayData"}) {
    options.push_back({{"$ref", path(name)}});
  }
  return {{"oneOf", std::move(options)},
          {"title", "Data"},
          {"discriminator",
           {{"propertyName", "encoding"},
            {"mapping",
             {{"base64", path("Base64ArrayData")},
              {"binref", path("BinrefArrayData")},
              {"cuda_ipc", path("CudaIpcArrayData")},
              {"json", path("JsonArrayData")}}}}}};
}

std::string title_of(const ArraySpec& spec, bool is_differentiable) {
  std::string title = "EncodedArrayModel__";
  if (!spec.shape) {
    title += "anyrank";
  } else if (spec.shape->empty()) {
    title += "scalar";
  } else {
    for (const std::int64_t size : *spec.shape) {
      title += title.back() == '_' ? "" : "_";
      title += size == kFreeAxis ? "any" : std::to_string(size);
    }
  }
  title += "__";
  title += spec.dtype ? name_of(*spec.dtype) : "None";
  title += is_differentiable ? "__DIFFERENTIABLE" : "__noflags";
  return title;
}

OpenApiJson lz4_or_null() {
  return {{"anyOf", OpenApiJson::array({{{"type", "string"}, {"const", "lz4"}}, {{"type", "null"}}})},
          {"title", "Compression"}};
}

void add_data(OpenApiComponents& components, const std::string& name, const char* encoding, OpenApiJson buffer,
              bool has_compression, const char* description) {
  OpenApiJson members = {{"buffer", std::move(buffer)},
                         {"encoding", {{"type", "string"}, {"const", encoding}, {"title", "Encoding"}}}};
  members["compression"] = has_compression ? lz4_or_null() : OpenApiJson{{"type", "null"}, {"title", "Compression"}};
  components.add(name, {{"properties", std::move(members)},
                        {"additionalProperties", false},
                        {"type", "object"},
                        {"required", {"buffer", "encoding"}},
                        {"title", name},
                        {"description", description}});
}

}  // namespace

OpenApiJson array_object_schema(const ArraySpec& spec, bool is_differentiable) {
  OpenApiJson flags = OpenApiJson::array();
  if (is_differentiable) {
    flags.push_back("DIFFERENTIABLE");
  }
  return {{"properties",
           {{"object_type",
             {{"type", "string"},
              {"const", "array"},
              {"title", "Object Type"},
              {"description", "Indicates that this dict can be parsed to an array."},
              {"default", "array"}}},
            {"shape", shape_schema(spec.shape)},
            {"dtype", dtype_schema(spec.dtype)},
            {"data", data_schema()}}},
          {"additionalProperties", false},
          {"type", "object"},
          {"required", {"shape", "dtype", "data"}},
          {"title", title_of(spec, is_differentiable)},
          {"array_flags", std::move(flags)}};
}

void add_array_data(OpenApiComponents& components) {
  add_data(components, "Base64ArrayData", "base64",
           {{"type", "string"},
            {"title", "Buffer"},
            {"description", "Base64 encoded binary buffer"},
            {"examples", OpenApiJson::array({"<base64 encoded string>"})}},
           true, "Data structure for base64 encoded binary buffers.");
  add_data(components, "BinrefArrayData", "binref",
           {{"type", "string"}, {"pattern", R"(^.+?(\:\d+(\:\d+)?)?$)"}, {"title", "Buffer"}}, true,
           "Data structure that dumps array data to binary file.\n\n"
           "The buffer field format is ``<path>[:<offset>[:<compressed_size>]]``.\n"
           "When compression is set, the buffer must include ``:<compressed_size>``\n"
           "so readers know how many compressed bytes to read.");
  add_data(components, "CudaIpcArrayData", "cuda_ipc",
           {{"type", "string"},
            {"pattern", R"(^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:[A-Za-z0-9+/=]*:\d+:\d+$)"},
            {"title", "Buffer"},
            {"description", "Packed CUDA IPC descriptor: <device>:<handle>:<storage_offset>:<storage_size>"}},
           false,
           "Data structure for CUDA IPC shared GPU memory handles.\n\n"
           "The buffer field packs all four components as\n"
           "``<device>:<handle>:<storage_offset>:<storage_size>``, where:\n\n"
           "- ``device`` is the UUID of the CUDA device the memory lives on,\n"
           "- ``handle`` is the base64-encoded 64-byte cudaIpcMemHandle_t (its base64\n"
           "  alphabet never contains ``:``, so it is safe as a field delimiter), or\n"
           "  empty for an empty array, which has no memory to share,\n"
           "- ``storage_offset`` is the byte offset within the cudaMalloc allocation,\n"
           "- ``storage_size`` is the total size in bytes of the cudaMalloc allocation.\n\n"
           "This is only the JSON *schema* for the encoding; all the CUDA runtime\n"
           "machinery that produces and consumes it lives in\n"
           ":mod:`tesseract_core.runtime.cuda.ipc`.");
  add_data(components, "JsonArrayData", "json", OpenApiComponents::reference_to("JsonValue"), false,
           "Data structure for json buffers (list of decimal numbers).");
  components.add("JsonValue", OpenApiJson::object());
}

void add_shape_dtype(OpenApiComponents& components) {
  components.add("ShapeDType",
                 {{"properties",
                   {{"shape", {{"items", {{"type", "integer"}}}, {"type", "array"}, {"title", "Shape"}}},
                    {"dtype", {{"type", "string"}, {"enum", dtype_names(std::nullopt)}, {"title", "Dtype"}}}}},
                  {"type", "object"},
                  {"required", {"shape", "dtype"}},
                  {"title", "ShapeDType"},
                  {"description", "Data structure describing an array's shape and data type."}});
}

}  // namespace tessera
