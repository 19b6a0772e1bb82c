/* message: a request about kept tensors, put together from tensors, in the forms that have their
 * types: JSON + binary, safetensors, raw elements. */
#ifndef TESTS_SUPPORT_HTTP_MESSAGE_H
#define TESTS_SUPPORT_HTTP_MESSAGE_H

#include "kernels/op.h"
#include "kernels/tensor.h"
#include "tests/support/http/client.h"

#include <stdbool.h>

enum { MESSAGE_BODY_MAX = 8192, MESSAGE_HEADERS_MAX = 5 };

struct message {
    const char *method;
    char path[512];
    char headers[MESSAGE_HEADERS_MAX][192];
    int header_count;
    char body[MESSAGE_BODY_MAX];
    size_t size;
};

void message_init(struct message *m, const char *method, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void message_header(struct message *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes the body a tensor: raw, its type and shape in the path's query, or a safetensors file. The
 * path must have a query already. */
void message_tensor(struct message *m, const struct tensor *t, bool is_raw);

/* Makes the body an infer request with the inputs that are present. In JSON + binary an input with
 * a name in `references` is that resident; `more` is what its parameters say, or the file's
 * metadata: "\"a\":\"b\"". */
void message_inputs(struct message *m, const struct op *op, const struct tensor *inputs,
                    const char *const *references, const char *more, bool is_json);

/* The message as the client takes it: valid as long as the message. */
struct call message_call(const struct message *m);

/* The tensor of an infer answer in either form, its data copied; false when there is none. */
bool message_output(const struct answer *a, struct tensor *t);

#endif
