/* describe: what the server says about itself and its operations. Each function appends to a text
 * of the caller's; text->cut: there was no room for all of it. */
#ifndef PROTO_ANSWER_DESCRIBE_H
#define PROTO_ANSWER_DESCRIBE_H

#include "kernels/op.h"
#include "proto/request/request.h"
#include "proto/text.h"

#include <stdbool.h>
#include <stdint.h>

/* How often something was done and how long it took in all. */
struct op_stat {
    uint64_t count;
    uint64_t ns;
};

/* An operation since the start of the server, in Triton's terms. */
struct op_stats {
    struct op_stat success, fail;                                       /* whole requests */
    struct op_stat queue, compute_input, compute_infer, compute_output; /* of successful ones */
    int64_t last_inference_ms; /* Unix time of the last request; 0: none yet */
};

/* GET /v2. `version` is the server's. */
void describe_server(struct text *t, const char *version, const struct request_rules *rules,
                     bool keeps_tensors);

/* GET /v2/models/{op}, .../config, .../stats, under the name that was asked for. */
void describe_model(struct text *t, const struct op_name *op);
void describe_model_config(struct text *t, const struct op_name *op);
void describe_model_stats(struct text *t, const struct op_name *op, const struct op_stats *stats);

/* GET /v2/models/stats: stats of op_count() operations in the table's order. */
void describe_all_stats(struct text *t, const struct op_stats *stats);

/* GET /v2/models: the operations with all their names, and the examples of example.h. */
void describe_models(struct text *t);

/* GET / without a page: where to go from there. `base_path` is in front of every route. */
void describe_entries(struct text *t, const char *version, const char *base_path);

/* POST /v2/repository/index. */
void describe_index(struct text *t, bool ready);

/* GET /v2/trace/setting and /v2/logging, of Triton: all off. */
void describe_trace(struct text *t);
void describe_logging(struct text *t);

#endif
