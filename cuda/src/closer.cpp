#include "tessera/cuda/closer.h"

namespace tessera {
namespace {

class DropAtOnce final : public Closer {
 public:
  void drop(std::shared_ptr<void> owner) noexcept override { owner.reset(); }
  void wait() override {}
};

}  // namespace

std::shared_ptr<Closer> drop_at_once() {
  return std::make_shared<DropAtOnce>();
}

}  // namespace tessera
