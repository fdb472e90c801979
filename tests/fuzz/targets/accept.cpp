// The Accept header: its grammar, what is agreed on, and the body of a 406; Content-Type beside it.
#include <algorithm>
#include <string>

#include "content_type.h"
#include "input.h"
#include "negotiation.h"
#include "targets.h"

namespace tessera::fuzzing {
namespace {

EncodingOffer pick_offer(Input& input) {
  EncodingOffer offer;
  offer.default_format = static_cast<OutputFormat>(input.pick(3));
  offer.default_compression = static_cast<Compression>(input.pick(2));
  if (input.pick(2) == 1) {
    offer.gpu_transports.emplace_back("cuda_ipc");
  }
  return offer;
}

}  // namespace

void fuzz_accept(std::string_view bytes) {
  Input input(bytes);
  const EncodingOffer offer = pick_offer(input);
  const std::string_view accept = input.rest();
  for (const MediaRange& range : parse_accept(accept)) {
    require(std::ranges::none_of(range.media_type, [](char c) { return c >= 'A' && c <= 'Z'; }),
            "media types are in lower case");
  }
  if (const std::optional<Encoding> encoding = negotiate(accept, offer)) {
    require(std::ranges::find(offer.gpu_transports, encoding->gpu_transport) != offer.gpu_transports.end(),
            "only what is offered is agreed on");
  } else {
    require(!accept.empty(), "no wish is always met");
    require_json(not_acceptable_body(accept, offer), "a 406 is JSON");
  }
  static_cast<void>(prefers_html(accept));
  static_cast<void>(is_called_json(accept));
}

}  // namespace tessera::fuzzing
