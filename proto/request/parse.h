/* request_parse: what the modules that decode a request share. Private to proto/request/.
 *
 * A body is decoded in two steps. First its envelope is read, which announces the inputs and says
 * what the client wants of the answer; no element is touched. Then the elements are read, in the
 * order in which the inputs came. */
#ifndef PROTO_REQUEST_PARSE_H
#define PROTO_REQUEST_PARSE_H

#include "proto/json/scan.h"
#include "proto/request/frame.h"
#include "proto/request/request.h"

/* Bytes that a JSON text may have besides its tensors. */
enum { ENVELOPE_MAX = 256 * 1024 };

enum source { SOURCE_NONE, SOURCE_CUT, SOURCE_BINARY, SOURCE_REFERENCE };

/* An input as its envelope describes it. */
struct announced {
    int input;            /* number in the op's row */
    struct tensor tensor; /* DTYPE_NONE: no type was said; rank -1: no shape, above RANK_MAX: not
                             yet refused; no data yet */
    bool untyped;         /* its type is our default, as no value input has one */
    enum source source;
    int cut;      /* SOURCE_CUT: number of the value that json_scan cut out */
    size_t bytes; /* SOURCE_BINARY */
    size_t begin; /* safetensors: offset in the data */
};

/* A boolean that the client may leave out. */
enum wish { WISH_NONE, WISH_NO, WISH_YES };

/* The first four are this request's; the others, and what the request has been told so far, hold no
 * pointers but static ones, so that recall.c may keep copies. */
struct decode {
    struct request *request;
    const struct head *head;
    const struct request_rules *rules;
    const struct work *work;
    struct announced inputs[OP_INPUTS_MAX]; /* in the order in which they came */
    int input_count;
    bool any_name; /* the op has one input, which may have any name */
    enum bad_indices policy;
    bool nonfinite_said;     /* request->nonfinite is what the client asked for */
    bool bare_tokens;        /* the client wrote NaN or Infinity as bare tokens */
    struct reference table;  /* the parameter `tensor` */
    bool output_listed;      /* an output is asked for */
    struct reference region; /* that output is to go there */
    enum wish binary;        /* an output's binary_data, else the request's binary_data_output */
};

/* A parameter's value, whatever it was written in. */
struct parameter {
    enum { PARAMETER_TEXT, PARAMETER_NUMBER, PARAMETER_TRUTH, PARAMETER_OTHER } kind;
    const char *text; /* of a text or a number, and of what stands for a number or a truth in a
                         safetensors file; NULL: it had none */
    bool truth;
};

/* --- parameters.c */

/* Takes a parameter of the request; unknown ones are ignored, unless they are like one that is
 * known. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code request_parameter(struct decode *d, const char *name,
                                             const struct parameter *value, struct error *error);

/* As request_parameter, for the strings of a safetensors file: "250" stands for a number, "true"
 * for a truth value. */
MUST_CHECK enum error_code request_text_parameter(struct decode *d, const char *name,
                                                  const char *text, struct error *error);

/* Whether a request has a parameter of this name. */
bool request_has_parameter(const char *name);

/* INVALID_PARAMETER for what Triton has and this server has not, at every level: classification,
 * shared memory. */
MUST_CHECK enum error_code request_refuse_parameter(const char *name, struct error *error);

/* --- references.c */

/* Takes a name for a reference. `what` says for what: "parameter tensor". Errors:
 * INVALID_PARAMETER (no name, or the reference is set already). */
MUST_CHECK enum error_code request_reference(struct reference *reference, const char *name,
                                             const char *what, struct error *error);

/* Turns references of the URL and of parameters into inputs and `into`. Done for each request, also
 * for one that was recalled. Errors: INVALID_PARAMETER DUPLICATE_INPUT. */
MUST_CHECK enum error_code request_refer(struct decode *d, struct error *error);

/* Takes the client's own name of the request, echoed in the answer. Errors: INVALID_FIELD. */
MUST_CHECK enum error_code request_id(struct decode *d, const char *id, struct error *error);

/* Turns wishes, headers and settings into request->answer, ignore_bad and nonfinite. */
void request_resolve(struct decode *d);

/* --- recall.c */

/* Looks for a text of the same operation that was read before and is equal but for its lists of
 * elements and its id. Takes over what that text said, with this text's id; `scan` then tells where
 * this text's lists are, as json_scan would. false: there was none. */
bool request_recall(struct decode *d, struct json_scan *scan, const char *text, size_t size);

/* Keeps what the text of `scan` said, after it was read without a fault and before elements are
 * loaded. Its cuts are those that d->inputs names. */
void request_remember(const struct decode *d, const struct json_scan *scan);

/* --- inputs.c */

/* Adds an input by one of its names. Errors: UNKNOWN_INPUT DUPLICATE_INPUT. */
MUST_CHECK enum error_code request_announce(struct decode *d, const char *name,
                                            struct announced **announced, struct error *error);

/* UNSUPPORTED_DTYPE for a name that the encoding does not know: says which types are accepted. */
MUST_CHECK enum error_code request_unknown_dtype(const struct decode *d, int input,
                                                 const char *found, struct error *error);

/* Gives types to inputs that came without, then reads the elements of all in the order of
 * d->inputs: cut values out of `scan`, binary ones out of `frame`, which they must use up. Errors:
 * UNSUPPORTED_DTYPE, then SHAPE_MISMATCH, and those of json_tensor_read and frame_take. */
MUST_CHECK enum error_code request_load(struct decode *d, const struct json_scan *scan,
                                        struct frame *frame, struct error *error);

/* --- tensor_read.c */

/* To the decoders a tensor that is kept is the only input of an operation that takes every type but
 * BYTES. */
extern const struct op request_keeping;

/* Whether the request's operation may keep such a tensor, and whether it has so many bytes.
 * Errors: UNSUPPORTED_DTYPE SHAPE_MISMATCH SIZE_MISMATCH. */
MUST_CHECK enum error_code request_check_kept(struct decode *d, const struct tensor *t,
                                              size_t bytes, struct error *error);

#endif
