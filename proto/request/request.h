/* request: an infer request, decoded. Its tensors are views: into the body where they came in
 * binary, into memory from `work` where they came as JSON. */
#ifndef PROTO_REQUEST_REQUEST_H
#define PROTO_REQUEST_REQUEST_H

#include "kernels/error.h"
#include "kernels/op.h"
#include "kernels/tensor.h"
#include "proto/json/word.h"
#include "proto/request/head.h"
#include "proto/request/tensor_name.h"
#include "proto/request/words.h"
#include "proto/work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REQUEST_ID_MAX = 256, REFERENCE_TAG_MAX = 64 };

/* A tensor that the server keeps, by its name. */
struct reference {
    char name[TENSOR_NAME_MAX + 1]; /* "": no reference */
    bool is_region;                 /* said as a shared memory region, with the next two */
    size_t region_offset, region_bytes;
    bool dtype_said;      /* the request says the element type; else it is the tensor's */
    enum dtype met_dtype; /* that the tensor had when the request was decoded */

    /* The tensor that the name meant when the request's turn came, as the server found it. */
    uint64_t version; /* 0: not yet */
    char etag[REFERENCE_TAG_MAX];
};

/* What the server's settings allow; shared by all requests. */
struct request_rules {
    size_t body_limit;   /* max_body: of the decompressed body */
    size_t json_limit;   /* max_json: of the JSON text */
    size_t output_limit; /* max_output */
    int cuda_devices;    /* 0: the server has none, and a request for one is INVALID_PARAMETER */
    enum device device;  /* the setting; never DEVICE_DEFAULT */
    enum bad_indices bad_indices; /* the setting */
};

struct request {
    struct op_name op;
    struct tensor inputs[OP_INPUTS_MAX]; /* in the op's order; DTYPE_NONE where absent */
    char id[REQUEST_ID_MAX + 1];         /* "" when absent; a NUL is TEXT_NUL */
    enum encoding answer;
    const char *safetensors_type;
    enum nonfinite nonfinite;
    bool ignore_bad;     /* bad_indices_policy, resolved against device and settings */
    enum device device;  /* as asked for; DEVICE_DEFAULT when it was not */
    int device_index;    /* cuda:N; -1 any */
    uint64_t timeout_us; /* 0: none asked for */

    /* Kept tensors that stand for inputs, in the op's order. For such an input, inputs[] holds what
     * the request said of it: dtype is DTYPE_NONE and rank -1 where it said nothing. */
    struct reference references[OP_INPUTS_MAX];
    struct reference into; /* where the result goes instead of into the answer */
    bool output_named;     /* the output was asked for as that reference: the answer lists it */
    bool dtype_open;       /* an input's type was decided by that of a reference */

    const char *text; /* the body, decompressed */
    size_t text_size;
};

/* The number of the op's table, the input that `tensor` stands for: tensor, params or data; -1
 * where an op has none. */
static inline int request_table(const struct op *op)
{
    return op->values & 1 ? 0 : -1;
}

static inline bool reference_is_set(const struct reference *reference)
{
    return reference->name[0] != '\0';
}

/* The parameter of a request that a word is, or was meant to be; NULL: it is like none. */
const char *request_parameter_meant(const char *word);

/* Checks what the size of a (decompressed) body and its headers decide together. request_decode
 * checks it too; a server can before the body is sent. Errors: PAYLOAD_TOO_LARGE, INVALID_HEADER.
 */
MUST_CHECK enum error_code request_check_sizes(const struct head *head,
                                               const struct request_rules *rules, size_t size,
                                               struct error *error);

/* Decodes a body of `size` bytes. `body` is writable, has ANSWER_HEAD_ROOM writable bytes in front,
 * and must outlive the request; nothing of it is copied but strings that matter, JSON numbers, and
 * tensors that are not aligned to their element. Every value input has ANSWER_HEAD_ROOM bytes in
 * front of its data that may be overwritten once the tensors have been used. On an error the
 * request holds nothing to release; where dtype_open is set by then, all of it but the elements is
 * there. Errors: those of PROTOCOL's 400s, PAYLOAD_TOO_LARGE,
 * RESOURCE_EXHAUSTED, CANCELLED. */
MUST_CHECK enum error_code request_decode(struct request *request, const struct op_name *op,
                                          const struct head *head,
                                          const struct request_rules *rules,
                                          const struct work *work, char *body, size_t size,
                                          struct error *error);

#endif
