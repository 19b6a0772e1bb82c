/* response: a result, encoded as one contiguous run of bytes. */
#ifndef PROTO_ANSWER_RESPONSE_H
#define PROTO_ANSWER_RESPONSE_H

#include "kernels/plan.h"
#include "proto/request/request.h"

struct response {
    const char *data; /* in the result's own memory (binary) or in memory from `work` (JSON) */
    size_t size;
    int64_t header_length;    /* value of Inference-Header-Content-Length; -1: no such header */
    const char *content_type; /* static */
};

/* Before computing: refuses an answer that cannot be said in the encoding asked for.
 * OUTPUT_TOO_LARGE when its longest JSON text exceeds rules->output_limit, UNSUPPORTED_DTYPE for
 * types that the encoding lacks. */
MUST_CHECK enum error_code response_check(const struct request *request, const struct plan *plan,
                                          const struct request_rules *rules, struct error *error);

/* Bytes that response_encode will take from work->memory at the most (admission): 0 when the result
 * is its own answer. The size of BYTES is known only after the run: 0 too, the memory says no when
 * it has none. */
size_t response_memory(const struct request *request, const struct plan *plan);

/* Encodes plan->output after a successful run. A binary or safetensors answer's header is written
 * in front of the tensor, over up to ANSWER_HEAD_ROOM bytes, padded so that the tensor starts at a
 * multiple of 64 of the answer; nothing that lies there may be needed any more. JSON, which ends
 * with a newline, and BYTES in every encoding, go to memory from `work`: their spans may point to
 * what lies there. Errors: NONFINITE_IN_JSON NOT_UTF8 OUTPUT_TOO_LARGE RESOURCE_EXHAUSTED
 * CANCELLED. */
MUST_CHECK enum error_code response_encode(struct response *response, const struct request *request,
                                           const struct plan *plan, const struct work *work,
                                           struct error *error);

#endif
