/* What the head of a request says about residents, and the routes that store, read and drop them,
 * each by a job. */
#include "server/http/parts.h"

#include "server/access/origin.h"
#include "server/base/exhausted.h"
#include "server/rules.h"

#include <stddef.h>
#include <string.h>

/* A query is copied into its job's home block, which all that a head leaves must fit. */
enum { QUERY_BYTES = 2048 };

enum error_code http_query_read(struct exchange *x)
{
    const struct peer *peer = x->peer;
    if (x->match.segments[SEGMENT_TENSOR].text && peer->path_is_escaped)
        return query_escaped(&x->job.error);
    if (!peer->query || peer->query_size == 0)
        return ERROR_NONE;
    if (peer->query_size > QUERY_BYTES)
        return error_set(&x->job.error, ERROR_INVALID_PARAMETER, NULL,
                         "the URL's query has %zu bytes; at most %d are read here",
                         peer->query_size, QUERY_BYTES);
    char *text = arena_get(&x->job.arena, peer->query_size + 1);
    if (!text)
        return error_no_memory(&x->job.error);
    memcpy(text, peer->query, peer->query_size + 1);
    text[0] = peer->query_byte;
    return query_read(&x->query, text, x->match.route->query, &x->job.error);
}

/* --------------------------------------------------------------------- what a job may and wants */

static struct origin_facts facts_of(const struct exchange *x)
{
    const struct config *config = &x->server->config;
    return (struct origin_facts){.origin = x->headers.value[HEADER_ORIGIN],
                                 .fetch_site = x->headers.value[HEADER_SEC_FETCH_SITE],
                                 .host = x->headers.value[HEADER_HOST],
                                 .cors_origins = config->cors_origins,
                                 .server_names = config->server_names,
                                 .is_tls = x->daemon->is_tls,
                                 .is_loopback = address_is_loopback(&x->peer->address),
                                 .has_token = grant_token(&x->grant) != NULL,
                                 .is_proxied = x->peer->is_proxy};
}

const char *http_forbids_use(const struct exchange *x)
{
    struct origin_facts facts = facts_of(x);
    return origin_forbids_use(&facts);
}

/* Method, path and all of the query, in one order: what a request is besides its body. */
static void fill_target(struct exchange *x)
{
    struct segment name = x->match.segments[SEGMENT_TENSOR];
    size_t count = 0;
    x->target[count++] = method_name(x->method);
    x->target[count++] = name.text ? name.text : "";
    for (int i = 0; i < QUERY_COUNT; i++)
        x->target[count++] = x->query.value[i] ? x->query.value[i] : "\1";
    x->target[count] = NULL;
}

static struct holder holder_of(const struct exchange *x)
{
    const struct rights *rights = x->grant.bearer.rights;
    if (!rights)
        return (struct holder){.client = NULL};
    return (struct holder){x->grant.bearer.client, rights->most_bytes, rights->most_count};
}

void http_holds_of(struct exchange *x, struct holds_setup *setup)
{
    struct server *server = x->server;
    const char *token = grant_token(&x->grant);
    size_t jobs = server->config.queue_jobs / 4;
    x->origin = facts_of(x);
    *setup = (struct holds_setup){.store = &server->store,
                                  .files = files_exist(&server->files) ? &server->files : NULL,
                                  .bounds = {jobs > 0 ? jobs : 1, server->queue.most_bytes / 4},
                                  .rights = x->grant.bearer.rights,
                                  .holder = holder_of(x),
                                  .token = token ? token : "",
                                  .in_url = server->config.tensor_in_url,
                                  .origin = &x->origin};
}

enum error_code http_holds_setup(struct exchange *x, struct holds_setup *setup)
{
    const char *const *value = x->headers.value;
    struct error *error = &x->job.error;
    http_holds_of(x, setup);
    if (value[HEADER_IDEMPOTENCY_KEY])
        fill_target(x);
    setup->conditions = (struct conditions){value[HEADER_IF_MATCH], value[HEADER_IF_NONE_MATCH]};
    setup->key = value[HEADER_IDEMPOTENCY_KEY];
    setup->target = x->target;
    if (conditions_check(&setup->conditions, error) != ERROR_NONE)
        return error->code;
    return position_parse(&setup->position, value[HEADER_UPDATE_SOURCE],
                          value[HEADER_UPDATE_POSITION], error);
}

/* ------------------------------------------------------------------------------ tensors' routes */

static enum error_code read_other(struct tensor_call *call, const char *name, struct error *error)
{
    size_t size = strlen(name);
    if (!tensor_name_is_legal(name, size))
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "move is '%.140s'; a tensor's name is " TENSOR_NAME_RULE, name);
    memcpy(call->other, name, size + 1);
    call->verb = VERB_MOVE;
    return ERROR_NONE;
}

static enum error_code no_body(const struct exchange *x, const char *what, struct error *error)
{
    if (x->framing.length == 0)
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_FIELD, NULL, "%s takes no body", what);
}

static enum error_code read_said(struct tensor_call *call, const struct query *query,
                                 struct error *error)
{
    const char *datatype = query->value[QUERY_DATATYPE], *shape = query->value[QUERY_SHAPE];
    if (!datatype && !shape)
        return ERROR_NONE;
    if (!datatype || !shape)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "datatype and shape belong together in the URL");
    return tensor_said_parse(&call->tensor, datatype, shape, error);
}

/* What the URL asks for. */
static enum error_code read_call(struct exchange *x, struct tensor_call *call)
{
    struct error *error = &x->job.error;
    const struct query *query = &x->query;
    const char *move = query->value[QUERY_MOVE];
    *call = (struct tensor_call){.verb = x->match.route->verb,
                                 .most_ttl_ns = x->server->config.tensor_ttl_max};
    route_tensor(&x->match, call->name);
    if (call->verb == VERB_PUT && move && read_other(call, move, error) != ERROR_NONE)
        return error->code;
    if (call->verb == VERB_MOVE && no_body(x, "a move", error) != ERROR_NONE)
        return error->code;
    if (call->verb == VERB_DROP && no_body(x, "DELETE", error) != ERROR_NONE)
        return error->code;
    if (call->verb == VERB_SNAPSHOT && no_body(x, "a snapshot", error) != ERROR_NONE)
        return error->code;
    call->has_rows = query->value[QUERY_ROWS] != NULL;
    if (call->has_rows &&
        query_rows(query->value[QUERY_ROWS], &call->from, &call->to, error) != ERROR_NONE)
        return error->code;
    if (query->value[QUERY_TTL] && tensor_ttl_parse(&call->ttl_ns, query->value[QUERY_TTL],
                                                    call->most_ttl_ns, error) != ERROR_NONE)
        return error->code;
    return read_said(call, query, error);
}

/* Whether the body will become the tensor itself: then it is charged to the tensors' memory from
 * the start. */
static bool becomes_tensor(const struct exchange *x, const struct tensor_call *call)
{
    const struct head *head = &x->job.head;
    return call->verb == VERB_PUT && x->framing.length > BODY_SMALL_MAX &&
           head->coding == CODING_IDENTITY &&
           (call->kind != TENSOR_BODY_JSON || head->header_length >= 0);
}

/* A write that was applied before needs no room: only its turn tells. */
static bool may_be_applied(const struct job *job)
{
    const struct holds_setup *setup = &job->holds.setup;
    return setup->key || *setup->position.source;
}

static enum error_code open_body(struct exchange *x, const struct tensor_call *call)
{
    struct job *job = &x->job;
    struct store *store = &x->server->store;
    bool is_text = call->kind == TENSOR_BODY_JSON && job->head.header_length < 0;
    bool is_json = is_text && job->head.coding == CODING_IDENTITY &&
                   job->rules.json_limit < job->rules.body_limit;
    size_t size = (size_t)x->framing.length;
    bool is_kept = becomes_tensor(x, call);
    bool is_full = is_kept && size <= job->rules.body_limit &&
                   !budget_has_room(&store->budget, blocks_cost(size + ANSWER_HEAD_ROOM));
    if (is_full && !may_be_applied(job))
        return store_full(store, size, &job->error);
    is_kept &= !is_full;
    if (is_kept) {
        job->arena.budget = &store->budget;
        job->arena.share = NULL;
    }
    enum error_code code =
        body_open(&x->body, &job->arena, x->framing.length, job->head.header_length,
                  is_json ? job->rules.json_limit : job->rules.body_limit,
                  is_json ? "max_json" : "max_body", &job->error);
    return is_kept && code == ERROR_RESOURCE_EXHAUSTED ? store_full(store, size, &job->error)
                                                       : code;
}

enum error_code http_tensor_open(struct exchange *x, struct job_setup *setup)
{
    struct error *error = &x->job.error;
    const char *const *value = x->headers.value;
    struct tensor_call call;
    if (read_call(x, &call) != ERROR_NONE)
        return error->code;
    call.kind =
        tensor_body_of(&setup->head, value[HEADER_CONTENT_TYPE], call.tensor.dtype != DTYPE_NONE);
    setup->call = &call;
    bool writes = call.verb != VERB_READ; /* a snapshot needs that right too */
    if (x->framing.length != 0 &&
        holds_foresee(&x->job.holds, &setup->holds, call.name, writes, error) != ERROR_NONE)
        return error->code;
    job_open(&x->job, setup);
    return open_body(x, &call);
}
