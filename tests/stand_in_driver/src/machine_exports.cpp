// Handles that are out.
#include "machine_layout.h"

namespace tessera::stand_in {

std::optional<std::uint32_t> Machine::add_export(const ExportRecord& record) {
  SharedFileLock lock(file_);
  std::optional<std::uint32_t> index = find_free(layout_->exports, layout_->export_end);
  if (index) {
    ExportRecord& place = layout_->exports[*index];
    place = record;
    place.is_used = 0;
    place.process = self_;
    place.process_serial = serial_;
    publish(place.is_used);
  }
  return index;
}

void Machine::remove_export(std::uint32_t index) {
  SharedFileLock lock(file_);
  layout_->exports[index].is_used = 0;
  shrink(layout_->exports, layout_->export_end);
}

std::optional<ExportRecord> Machine::hold_export(const Id& id) {
  SharedFileLock lock(file_);
  clear_dead();
  for (std::uint32_t index = 0; index < layout_->export_end; ++index) {
    const ExportRecord& record = layout_->exports[index];
    if (record.is_used != 0 && record.id == id) {
      return add_holder(record.block) ? std::optional(record) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace tessera::stand_in
