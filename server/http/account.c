#include "server/http/parts.h"

static const char *const encodings[] = {
    [ENCODING_JSON] = "json", [ENCODING_BINARY] = "binary", [ENCODING_SAFETENSORS] = "safetensors"};

/* Whether machines or open pages poll the route. */
static bool is_routine(const struct route *route)
{
    return route->kind == ROUTE_PROBE || route->kind == ROUTE_METRICS ||
           (route->kind == ROUTE_LOOK && route->method == METHOD_GET);
}

/* 501 is about the request, as 4xx are: nothing has failed here. */
static enum log_level level_of(const struct exchange *x)
{
    if (x->reply.status >= 500 && x->job.error.code != ERROR_NOT_SUPPORTED)
        return LOG_ERROR;
    if (x->reply.status >= 400)
        return LOG_WARN;
    const struct route *route = x->match.route;
    return route && is_routine(route) ? LOG_DEBUG : LOG_INFO;
}

static void log_microseconds(struct log_line *line, const char *key, uint64_t ns)
{
    log_int(line, key, (int64_t)(ns / 1000));
}

static void log_error(struct log_line *line, const struct error *error)
{
    log_word(line, "error_code", error_name(error->code));
    log_string(line, "error", error->message);
}

static void log_trace(struct log_line *line, const struct trace *trace)
{
    if (*trace->trace_id) {
        log_word(line, "trace_id", trace->trace_id);
        log_word(line, "span_id", trace->span_id);
    }
    if (*trace->parent_id)
        log_word(line, "parent_id", trace->parent_id);
}

static void log_reference(struct log_line *line, const char *name, const char *version,
                          const struct reference *reference)
{
    if (!reference_is_set(reference))
        return;
    log_string(line, name, reference->name);
    if (reference->version > 0)
        log_int(line, version, (int64_t)reference->version);
}

static void log_request(struct log_line *line, const struct job *job)
{
    const struct request *request = &job->request;
    int table = request_table(job->op.op);
    const struct tensor *value = &request->inputs[op_value_input(job->op.op)];
    if (*request->id)
        log_string(line, "id", request->id);
    log_word(line, "encoding", encodings[request->answer]);
    log_word(line, "dtype", dtype_name(value->dtype));
    if (table >= 0)
        log_reference(line, "tensor", "tensor_version", &request->references[table]);
    log_reference(line, "into", "into_version", &request->into);
}

static void log_infer(struct log_line *line, const struct job *job)
{
    if (job->op.op)
        log_word(line, "op", job->op.op->name);
    log_word(line, "body", encodings[job->head.body]);
    if (job->decoded)
        log_request(line, job);
    if (job->device)
        log_word(line, "device", job->device);
}

static void log_tensor(struct log_line *line, const struct job *job)
{
    log_string(line, "tensor", job->call.name);
    if (*job->call.other)
        log_string(line, "other", job->call.other);
    if (*job->holds.etag)
        log_string(line, "etag", job->holds.etag);
}

static void log_job(struct log_line *line, const struct job *job)
{
    const struct job_times *times = &job->times;
    log_int(line, "bytes_in", (int64_t)job->body_size);
    if (job->kind == JOB_TENSOR)
        log_tensor(line, job);
    else
        log_infer(line, job);
    if (job->holds.is_replayed)
        log_word(line, "replayed", "true");
    log_microseconds(line, "t_parse_us", times->parse_ns);
    log_microseconds(line, "t_queue_us", times->queue_ns);
    if (times->line_ns > 0)
        log_microseconds(line, "t_line_us", times->line_ns);
    log_microseconds(line, "t_compute_us", times->compute_ns + times->encode_ns);
}

static void log_visitor(struct log_line *line, const struct exchange *x)
{
    const char *token = grant_token(&x->grant);
    if (x->peer->is_proxy) {
        char client[ADDRESS_TEXT_MAX];
        address_print(&x->client, client);
        log_word(line, "remote", client);
        log_word(line, "proxy", x->peer->name);
    } else {
        log_word(line, "remote", x->peer->name);
    }
    if (token)
        log_word(line, "token", token);
}

static void log_fields(struct log_line *line, const struct exchange *x, bool was_sent)
{
    uint64_t received = x->job.times.received_ns ? x->job.times.received_ns : x->begin_ns;
    log_string(line, "request_id", x->request_id);
    log_trace(line, &x->trace);
    log_visitor(line, x);
    log_word(line, "method", method_name(x->method));
    if (x->match.route)
        log_word(line, "route", x->match.route->pattern);
    log_int(line, "status",
            x->peer->last_status ? x->peer->last_status
            : x->answer_ns       ? x->reply.status
                                 : 0);
    log_int(line, "bytes_out", (int64_t)x->reply.size);
    if (x->peer->is_ended)
        log_word(line, "ended", "cut off: the client was too slow");
    else if (!was_sent && !x->peer->last_status)
        log_word(line, "ended", "connection lost before the answer was out");
    if (x->job.error.code != ERROR_NONE)
        log_error(line, &x->job.error);
    if (x->job.times.received_ns)
        log_job(line, &x->job);
    log_microseconds(line, "t_read_us", received - x->begin_ns);
    log_microseconds(line, "t_write_us", x->answer_ns ? x->end_ns - x->answer_ns : 0);
    log_int(line, "conn_requests", (int64_t)x->peer->requests);
}

static void count(const struct exchange *x, bool was_sent)
{
    const struct job *job = &x->job;
    bool is_infer = x->match.route && x->match.route->kind == ROUTE_INFER;
    enum error_code code = job->error.code;
    struct observation seen = {
        .op = is_infer ? x->match.op_name.op : NULL,
        .code = code == ERROR_NONE && !was_sent ? ERROR_CANCELLED : code,
        .ns = {[METRICS_PARSE] = job->times.parse_ns,
               [METRICS_QUEUE] = job->times.queue_ns,
               [METRICS_LINE] = job->times.line_ns,
               [METRICS_COMPUTE] = job->times.compute_ns,
               [METRICS_ENCODE] = job->times.encode_ns,
               [METRICS_TOTAL] = x->end_ns - x->begin_ns},
        .bytes_in = x->body.size + x->discarded,
        .bytes_out = x->reply.size,
    };
    metrics_observe(x->daemon->metrics, &seen);
}

void http_account_refused(const struct peer *peer, const struct error *error)
{
    struct log *log = &peer->daemon->http->server->log;
    struct observation seen = {.code = error->code};
    struct log_line line;
    metrics_observe(peer->daemon->metrics, &seen);
    if (!log_wants(log, LOG_WARN))
        return;
    log_begin(&line, LOG_WARN, "request");
    log_word(&line, "remote", peer->name);
    log_int(&line, "status", peer->last_status);
    log_error(&line, error);
    log_end(&line, log);
}

static void write_line(const struct exchange *x, bool was_sent)
{
    struct log *log = &x->server->log;
    enum log_level level = level_of(x);
    if (!x->server->config.log_requests || !log_wants(log, level))
        return;
    struct log_line line;
    log_begin(&line, level, "request");
    log_fields(&line, x, was_sent);
    log_end(&line, log);
}

void http_account(const struct exchange *x, bool was_sent)
{
    count(x, was_sent);
    write_line(x, was_sent);
}
