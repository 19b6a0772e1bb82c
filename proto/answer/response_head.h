/* response_head: what an answer says in front of its elements: names, versions of tensors that are
 * kept, the output's type and shape. Appended to a text that is empty and has ANSWER_HEAD_ROOM,
 * where each of them fits. Private to response.c. */
#ifndef PROTO_ANSWER_RESPONSE_HEAD_H
#define PROTO_ANSWER_RESPONSE_HEAD_H

#include "kernels/plan.h"
#include "proto/request/request.h"
#include "proto/text.h"

/* Up to where the list of elements begins; the answer ends with }]} behind that list. */
void response_head_json(struct text *t, const struct request *request, const struct plan *plan);

/* In front of elements of so many bytes: padded with spaces to a multiple of TENSOR_ALIGNMENT. */
void response_head_binary(struct text *t, const struct request *request, const struct plan *plan,
                          size_t bytes);
void response_head_safetensors(struct text *t, const struct request *request,
                               const struct plan *plan, size_t bytes);

/* The whole answer, a JSON text, where the result is kept and not sent. */
void response_head_into(struct text *t, const struct request *request, const struct plan *plan);

#endif
