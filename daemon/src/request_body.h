// The body of a request, which arrays may have left already.
#pragma once

#include <cstddef>
#include <string_view>
#include <variant>

#include "tessera/array/arriving_text.h"

namespace tessera {

/// Borrows a JSON text.
class RequestBody {
 public:
  RequestBody() = default;
  RequestBody(std::string_view whole) : whole_(whole) {}  // NOLINT(google-explicit-constructor): it is a body
  /// One that has arrived.
  explicit RequestBody(ArrivingText& arrived) : arrived_(&arrived) {}

  /// As it was sent.
  [[nodiscard]] std::size_t size_bytes() const { return arrived_ != nullptr ? arrived_->size_bytes() : whole_.size(); }
  [[nodiscard]] bool is_empty() const { return size_bytes() == 0; }

  /// The text as it was sent; not after a good read().
  [[nodiscard]] std::string_view whole() const {
    if (arrived_ == nullptr) {
      return whole_;
    }
    arrived_->unfold();
    return arrived_->text();
  }

  /// The text without what is folded: to look for something at a glance.
  [[nodiscard]] std::string_view unfolded_part() const { return arrived_ != nullptr ? arrived_->text() : whole_; }

  /// What `read(text, arrived)` makes of the text, a variant: of the folded one, if that is Good, else of the whole
  /// one; `arrived` is for JsonScanner::Options.
  template <class Good, class Read>
  [[nodiscard]] auto read(const Read& read) const {
    if (arrived_ != nullptr && arrived_->is_folded()) {
      auto result = read(arrived_->text(), static_cast<const ArrivingText*>(arrived_));
      if (std::holds_alternative<Good>(result)) {
        arrived_->give_up_bytes();
        return result;
      }
    }
    return read(whole(), static_cast<const ArrivingText*>(nullptr));
  }

 private:
  std::string_view whole_;
  ArrivingText* arrived_ = nullptr;
};

}  // namespace tessera
