#include "server/http/metrics_print.h"

#include "server/base/clock.h"
#include "server/base/units.h"
#include "server/base/version.h"
#include "server/http/http.h"
#include "server/http/metrics_text.h"
#include "server/http/metrics_triton.h"
#include "server/http/process.h"

#include <inttypes.h>
#include <stdio.h>

/* The page that is printed. Each operation's numbers are summed once for all of it. */
struct page {
    struct text *text;
    struct server *server;
    struct op_totals ops[METRICS_OPS_MAX];
    char bounds[METRICS_BUCKETS + 1][32]; /* of buckets, in seconds */
};

/* Most lines have a name and labels of these parts, and printf would take most of a scrape. */
static void put_both(struct page *p, const char *one, const char *other)
{
    text_puts(p->text, one);
    text_puts(p->text, other);
}

static void head(struct page *p, const char *name, const char *type, const char *help)
{
    metrics_head(p->text, name, type, help);
}

static void put_number(struct page *p, uint64_t value)
{
    metrics_number_line(p->text, value);
}

static const char *op_label(int op)
{
    return op == METRICS_OTHER ? "" : op_at(op)->name;
}

/* Most series are of operations and codes that a server never meets: a series begins when there is
 * something to count. Those from whose increase an alert follows begin at 0, since an increase is
 * seen only between two samples (docker/alerts.yml). */
static bool begins_at_zero(enum error_code code)
{
    return code == ERROR_NONE || code == ERROR_INTERNAL || code == ERROR_QUEUE_FULL ||
           code == ERROR_RESOURCE_EXHAUSTED || code == ERROR_DEADLINE_EXCEEDED;
}

/* Operations in the table's order, then the requests that reached none. */
static int next_op(int op)
{
    return op + 1 < op_count() ? op + 1 : op < METRICS_OTHER ? METRICS_OTHER : METRICS_OPS_MAX;
}

#define EACH_OP(OP) for (int OP = 0; OP < METRICS_OPS_MAX; OP = next_op(OP))

static void print_requests(struct page *p)
{
    head(p, "tensord_requests_total", "counter",
         "Requests answered, by operation (empty: none was reached) and error code.");
    EACH_OP(op) {
        for (int code = 0; code < ERROR_CODE_COUNT; code++) {
            if (!p->ops[op].codes[code] && !begins_at_zero((enum error_code)code))
                continue;
            put_both(p, "tensord_requests_total{op=\"", op_label(op));
            put_both(p, "\",code=\"", code ? error_name((enum error_code)code) : "OK");
            text_puts(p->text, "\"}");
            put_number(p, p->ops[op].codes[code]);
        }
    }
}

/* A bound a decade: of 1, 2.5 and 5 the first. */
static bool is_power_of_ten(int bound)
{
    return bound % 3 == 1 || bound == METRICS_BUCKETS;
}

static void print_histogram(struct page *p, const char *name, enum metrics_time time, bool is_fine,
                            int op)
{
    const struct op_totals *t = &p->ops[op];
    uint64_t count = 0;
    for (int i = 0; i <= METRICS_BUCKETS; i++) {
        count += t->buckets[time][i];
        if (!is_fine && !is_power_of_ten(i))
            continue;
        put_both(p, name, "_bucket{op=\"");
        put_both(p, op_at(op)->name, "\",le=\"");
        put_both(p, p->bounds[i], "\"}");
        put_number(p, count);
    }
    text_printf(p->text, "%s_sum{op=\"%s\"} %.9f\n", name, op_at(op)->name,
                (double)t->sum_ns[time] / (double)SEC);
    text_printf(p->text, "%s_count{op=\"%s\"} %" PRIu64 "\n", name, op_at(op)->name, count);
}

/* Few requests wait in line, so an operation's times of it begin with the first that does. */
static bool is_told(const struct op_totals *t, enum metrics_time time)
{
    return metrics_reached(t) && (time != METRICS_LINE || t->sum_ns[METRICS_LINE] > 0);
}

static void print_times(struct page *p)
{
    static const struct {
        const char *name, *help;
        enum metrics_time time;
        bool is_fine; /* every bound is printed, else the powers of ten */
    } rows[] = {
        {"tensord_parse_seconds", "Decoding a request.", METRICS_PARSE, false},
        {"tensord_queue_seconds", "Waiting for a worker.", METRICS_QUEUE, false},
        {"tensord_line_seconds", "Waiting in line for kept tensors.", METRICS_LINE, false},
        {"tensord_compute_seconds", "Computing.", METRICS_COMPUTE, true},
        {"tensord_encode_seconds", "Encoding an answer.", METRICS_ENCODE, false},
        {"tensord_request_seconds", "A request from its headers to its answer being sent.",
         METRICS_TOTAL, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        head(p, rows[i].name, "histogram", rows[i].help);
        for (int op = 0; op < op_count(); op++)
            if (is_told(&p->ops[op], rows[i].time))
                print_histogram(p, rows[i].name, rows[i].time, rows[i].is_fine, op);
    }
}

static void print_bytes(struct page *p)
{
    head(p, "tensord_request_bytes_total", "counter", "Bytes of bodies received.");
    for (int op = 0; op < op_count(); op++) {
        if (!metrics_reached(&p->ops[op]))
            continue;
        text_printf(p->text, "tensord_request_bytes_total{op=\"%s\"}", op_label(op));
        put_number(p, p->ops[op].bytes_in);
    }
    head(p, "tensord_response_bytes_total", "counter", "Bytes of bodies answered.");
    for (int op = 0; op < op_count(); op++) {
        if (!metrics_reached(&p->ops[op]))
            continue;
        text_printf(p->text, "tensord_response_bytes_total{op=\"%s\"}", op_label(op));
        put_number(p, p->ops[op].bytes_out);
    }
}

/* A metric without labels. */
struct metric {
    const char *name, *type, *help;
    double value;
};

static void put_metrics(struct page *p, const struct metric *metrics, size_t count)
{
    for (const struct metric *m = metrics; m < metrics + count; m++) {
        head(p, m->name, m->type, m->help);
        text_printf(p->text, "%s %.17g\n", m->name, m->value);
    }
}

static void print_gauges(struct page *p)
{
    struct server *server = p->server;
    struct queue_load load = queue_load(&server->queue);
    const struct metric rows[] = {
        {"tensord_ready", "gauge", "1 when requests are taken.", server->phase == PHASE_READY},
        {"tensord_queue_jobs", "gauge", "Jobs that wait for a worker.", load.jobs},
        {"tensord_queue_bytes", "gauge", "Bytes of these jobs.", load.bytes},
        {"tensord_queue_limit_jobs", "gauge", "The limit queue_jobs.", server->config.queue_jobs},
        {"tensord_running_jobs", "gauge", "Jobs that workers compute.",
         workers_running(&server->workers)},
        {"tensord_memory_used_bytes", "gauge", "Memory reserved for requests.",
         budget_used(&server->budget)},
        {"tensord_memory_limit_bytes", "gauge", "The limit memory.", server->budget.limit},
        {"tensord_memory_cached_bytes", "gauge", "Memory kept for reuse.",
         atomic_load(&server->blocks.cached_bytes)},
        {"tensord_open_requests", "gauge", "Requests whose answer is not out.",
         http_requests(server->http)},
        {"tensord_open_connections", "gauge", "Connections.", http_connections(server->http)},
        {"tensord_connections_total", "counter", "Connections accepted.",
         http_accepted(server->http)},
        {"tensord_connections_refused_total", "counter", "Connections over max_connections.",
         http_turned_away(server->http)},
        {"tensord_connections_cut_total", "counter", "Connections cut off for being too slow.",
         http_reaped(server->http)},
        {"tensord_log_dropped_total", "counter", "Log lines dropped because their reader stalled.",
         log_dropped(&server->log)},
    };
    put_metrics(p, rows, sizeof rows / sizeof *rows);
}

/* No label tells a tensor's name, as clients choose names. */
static void print_tensors(struct page *p)
{
    struct store *store = &p->server->store;
    struct store_load load = store_load(store);
    const struct metric rows[] = {
        {"tensord_tensors", "gauge", "Tensors that are kept.", load.count},
        {"tensord_tensors_limit", "gauge", "The limit tensors_max.", store->most},
        {"tensord_tensor_bytes", "gauge", "Bytes of their elements.", load.bytes},
        {"tensord_tensor_memory_used_bytes", "gauge", "Memory reserved for them and their keys.",
         budget_used(&store->budget)},
        {"tensord_tensor_memory_limit_bytes", "gauge", "The limit tensor_memory.",
         store->budget.limit},
        {"tensord_tensor_waiting", "gauge", "Requests that wait in line for them.", load.waiting},
        {"tensord_tensor_reads_total", "counter", "Reads of kept tensors.", load.counts.reads},
        {"tensord_tensor_writes_total", "counter", "Writes of kept tensors.", load.counts.writes},
        {"tensord_tensor_conflicts_total", "counter", "Conditions that did not hold (412).",
         load.counts.conflicts},
        {"tensord_tensor_replays_total", "counter",
         "Writes that were applied before and answered again.", load.counts.replays},
        {"tensord_tensor_expired_total", "counter", "Leases that ended.", load.counts.expired},
        {"tensord_tensor_refused_total", "counter", "Tensors that there was no room for (507).",
         load.counts.refused},
    };
    put_metrics(p, rows, sizeof rows / sizeof *rows);
}

/* The age of the oldest write that is in no file; 0 where there is none. */
static double unsaved_seconds(const struct files *files)
{
    uint64_t since_ns = files->unsaved_since_ns, now_ns = clock_ns();
    return since_ns > 0 && now_ns > since_ns ? (double)(now_ns - since_ns) / (double)SEC : 0;
}

static void print_files(struct page *p)
{
    const struct files *files = &p->server->files;
    const struct metric rows[] = {
        {"tensord_tensor_unsaved_seconds", "gauge",
         "Age of the oldest write of a kept tensor that is in no file.", unsaved_seconds(files)},
        {"tensord_tensors_loaded_total", "counter", "Tensors loaded from files.",
         files->loaded_count},
        {"tensord_tensor_epochs_total", "counter",
         "Tensors loaded in a state that may be older than one that was told.", files->epochs},
        {"tensord_snapshots_total", "counter", "Snapshots written.", files->saved},
        {"tensord_snapshots_failed_total", "counter", "Snapshots that could not be written.",
         files->failed},
        {"tensord_snapshot_seconds", "gauge", "How long the last one took.",
         (double)files->saved_ns / (double)SEC},
        {"tensord_snapshot_bytes", "gauge", "Bytes of the last one.", files->saved_bytes},
    };
    put_metrics(p, rows, sizeof rows / sizeof *rows);
}

static void print_backends(struct page *p)
{
    head(p, "tensord_backend_up", "gauge", "1 when jobs can run there.");
    text_puts(p->text, "tensord_backend_up{backend=\"cpu\"} 1\n");
    text_puts(p->text, "tensord_backend_up{backend=\"cuda\"}");
    put_number(p, gpus_available(&p->server->gpus) > 0);
}

static void print_process(struct page *p)
{
    struct process process;
    process_look(&process);
    const struct metric rows[] = {
        {"process_cpu_seconds_total", "counter", "CPU time.", process.cpu_seconds},
        {"process_resident_memory_bytes", "gauge", "Resident memory.", process.resident_bytes},
        {"process_open_fds", "gauge", "Open descriptors.", process.open_files},
        {"process_max_fds", "gauge", "Their limit.", process.most_files},
        {"process_start_time_seconds", "gauge", "Start, since 1970.", p->server->start_seconds},
    };
    put_metrics(p, rows, sizeof rows / sizeof *rows);
    head(p, "tensord_build_info", "gauge", "1; the labels say what runs.");
    text_puts(p->text, "tensord_build_info{version=\"" TENSORD_VERSION "\"} 1\n");
}

static void print_bounds(struct page *p)
{
    for (int i = 0; i < METRICS_BUCKETS; i++)
        snprintf(p->bounds[i], sizeof p->bounds[i], "%g", metrics_bounds[i] / (double)SEC);
    snprintf(p->bounds[METRICS_BUCKETS], sizeof p->bounds[0], "+Inf");
}

void metrics_print(struct text *text, struct server *server)
{
    struct page p = {.text = text, .server = server};
    print_bounds(&p);
    EACH_OP(op)
        metrics_total(&server->metrics, op, &p.ops[op]);
    print_requests(&p);
    print_times(&p);
    print_bytes(&p);
    print_gauges(&p);
    print_tensors(&p);
    print_files(&p);
    print_backends(&p);
    print_process(&p);
    metrics_print_triton(text, server);
}
