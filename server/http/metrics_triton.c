#include "server/http/metrics_triton.h"

#include "kernels/op.h"
#include "server/http/metrics_text.h"

#include <stdio.h>

struct alias {
    const char *name, *help;
    uint64_t (*value)(const struct op_stats *stats);
};

static uint64_t successes(const struct op_stats *s)
{
    return s->success.count;
}

static uint64_t request_us(const struct op_stats *s)
{
    return (s->success.ns + s->fail.ns) / 1000;
}

static uint64_t queue_us(const struct op_stats *s)
{
    return s->queue.ns / 1000;
}

static uint64_t input_us(const struct op_stats *s)
{
    return s->compute_input.ns / 1000;
}

static uint64_t infer_us(const struct op_stats *s)
{
    return s->compute_infer.ns / 1000;
}

static uint64_t output_us(const struct op_stats *s)
{
    return s->compute_output.ns / 1000;
}

static const struct alias aliases[] = {
    {"nv_inference_request_success", "Requests that succeeded.", successes},
    {"nv_inference_count", "Inferences done.", successes},
    {"nv_inference_exec_count", "Executions done.", successes},
    {"nv_inference_request_duration_us", "All requests, in us.", request_us},
    {"nv_inference_queue_duration_us", "Waiting, in us.", queue_us},
    {"nv_inference_compute_input_duration_us", "Decoding, in us.", input_us},
    {"nv_inference_compute_infer_duration_us", "Computing, in us.", infer_us},
    {"nv_inference_compute_output_duration_us", "Encoding, in us.", output_us},
};

enum reason { REJECTED, CANCELED, BACKEND, OTHER, REASONS };

static const char *const reasons[] = {"REJECTED", "CANCELED", "BACKEND", "OTHER"};

static enum reason reason_of(int code)
{
    switch (code) {
    case ERROR_QUEUE_FULL:
    case ERROR_RESOURCE_EXHAUSTED:
    case ERROR_DRAINING:
        return REJECTED;
    case ERROR_CANCELLED:
        return CANCELED;
    case ERROR_INTERNAL:
        return BACKEND;
    default:
        return OTHER;
    }
}

static void sample(struct text *text, const char *name, int op, const char *labels, uint64_t value)
{
    text_printf(text, "%s{model=\"%s\",version=\"1\"%s}", name, op_at(op)->name, labels);
    metrics_number_line(text, value);
}

static void print_failures(struct text *text, const struct server *server)
{
    const char *name = "nv_inference_request_failure";
    metrics_head(text, name, "counter", "Requests that failed.");
    for (int op = 0; op < op_count(); op++) {
        struct op_totals totals;
        uint64_t counts[REASONS] = {0};
        metrics_total(&server->metrics, op, &totals);
        if (!metrics_reached(&totals))
            continue;
        for (int code = ERROR_NONE + 1; code < ERROR_CODE_COUNT; code++)
            counts[reason_of(code)] += totals.codes[code];
        for (int r = 0; r < REASONS; r++) {
            char label[40];
            snprintf(label, sizeof label, ",reason=\"%s\"", reasons[r]);
            sample(text, name, op, label, counts[r]);
        }
    }
}

static void count(struct job *job, void *pending)
{
    ((uint64_t *)pending)[metrics_op_number(job->op.op)]++;
}

static void print_pending(struct text *text, struct server *server)
{
    const char *name = "nv_inference_pending_request_count";
    uint64_t pending[METRICS_OPS_MAX] = {0};
    queue_each(&server->queue, count, pending);
    metrics_head(text, name, "gauge", "Requests that wait.");
    for (int op = 0; op < op_count(); op++)
        sample(text, name, op, "", pending[op]);
}

void metrics_print_triton(struct text *text, struct server *server)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        metrics_head(text, aliases[i].name, "counter", aliases[i].help);
        for (int op = 0; op < op_count(); op++) {
            struct op_stats stats;
            metrics_op_stats(&server->metrics, op, &stats);
            if (stats.success.count + stats.fail.count == 0)
                continue;
            sample(text, aliases[i].name, op, "", aliases[i].value(&stats));
        }
    }
    print_failures(text, server);
    print_pending(text, server);
}
