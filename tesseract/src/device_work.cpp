#include "device_work.h"

#include <optional>

#include "tessera/array/device_array.h"
#include "tessera/base/uuid.h"

namespace tessera {
namespace {

// Calls `visit` with each array on a GPU, until it fails.
template <class Visit>
Status visit_device_blocks(const Value& value, Visit& visit);

template <class Visit>
Status visit_device_blocks(const Object& object, Visit& visit) {
  for (const Object::Member& member : object.members()) {
    TESSERA_RETURN_IF_ERROR(visit_device_blocks(member.value, visit));
  }
  return {};
}

template <class Visit>
Status visit_device_blocks(const Value& value, Visit& visit) {
  switch (value.kind()) {
    case Value::Kind::kArray:
      return value.array().is_on_device() ? visit(*value.array().device()) : Status();
    case Value::Kind::kList:
      for (const Value& item : value.list()) {
        TESSERA_RETURN_IF_ERROR(visit_device_blocks(item, visit));
      }
      return {};
    case Value::Kind::kObject:
      return visit_device_blocks(value.object(), visit);
    default:
      return {};
  }
}

}  // namespace

Status wait_for_result(const Object& result) {
  // Many arrays of one stream are waited for once.
  std::optional<Uuid> last_gpu;
  const void* last_stream = nullptr;
  auto visit = [&](const DeviceBlock& block) -> Status {
    if (block.size_bytes() == 0 || (last_gpu == block.gpu() && last_stream == block.stream())) {
      return {};
    }
    last_gpu = block.gpu();
    last_stream = block.stream();
    return block.wait();
  };
  return visit_device_blocks(result, visit);
}

void wait_after_failure(const Call& call) {
  std::optional<Uuid> last_gpu;
  auto visit = [&](const DeviceBlock& block) -> Status {
    if (block.size_bytes() != 0 && last_gpu != block.gpu()) {
      last_gpu = block.gpu();
      static_cast<void>(block.wait_for_gpu());
    }
    return {};
  };
  static_cast<void>(visit_device_blocks(call.inputs, visit));
  static_cast<void>(visit_device_blocks(call.vector, visit));
}

}  // namespace tessera
