// A call of an endpoint over HTTP: what is checked before it may run, the run, its answer (PROTOCOL.md section 4).
#pragma once

#include "request.h"
#include "request_record.h"
#include "served_tesseract.h"
#include "service.h"

namespace tessera {

/// Checks a request for an endpoint: body, run_id, Accept, in this order. `record` is of this request. All references
/// outlive the call.
[[nodiscard]] RefusalOrCall begin_endpoint_call(const ServiceParts& parts, ServedTesseract& tesseract,
                                                const Request& request, const RequestRecord& record);

}  // namespace tessera
