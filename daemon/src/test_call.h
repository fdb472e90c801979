// A call of the test endpoint over HTTP (PROTOCOL.md section 4.5).
#pragma once

#include "request.h"
#include "request_record.h"
#include "served_tesseract.h"
#include "service.h"

namespace tessera {

/// Checks a request for the test endpoint: its body, and nothing else. `record` is of this request; refusals are not
/// counted in it yet. All references outlive the call.
[[nodiscard]] RefusalOrCall begin_test_call(const ServiceParts& parts, ServedTesseract& tesseract,
                                            const Request& request, const RequestRecord& record);

}  // namespace tessera
