/* A request that stores, reads, writes or drops kept tensors, from its head to its answer, beside
 * three that are there. The first bytes: what is asked for, a verb or to run an operation; the form
 * of the body and of the answer; which operation. Then lines with the URL's query, If-Match,
 * If-None-Match, Idempotency-Key, and the body. What fails must have changed nothing, and
 * everything is given back. */
#include "tests/fuzz/fuzz.h"

#include "server/base/units.h"
#include "server/http/query.h"
#include "server/jobs/job.h"
#include "server/server.h"
#include "server/tensors/store_view.h"

#include <stdlib.h>
#include <string.h>

enum { CHOICES = 3, VERBS = VERB_DROP + 1, HOME_BYTES = 60 * 1024, RESIDENTS = 3 };

static const char *const names[RESIDENTS] = {"emb", "at", "emb.next"};
static const char *const target[] = {"PUT", "kept", NULL};

struct world {
    struct server server; /* its store and memory; nothing runs */
    struct clients clients;
    struct block *home;
    struct job job;
    struct lane *lane;
};

static void put(struct world *w, const char *name, enum dtype dtype, int64_t rows)
{
    struct store *store = &w->server.store;
    struct turn turn = {.bytes = 0};
    struct error error;
    enum turn_state entered;
    const struct line_bounds wide = {1000, SIZE_MAX};
    const struct holder nobody = {.client = NULL};
    const struct tensor tensor = {.dtype = dtype, .rank = 2, .shape = {rows, 1}};
    error_clear(&error);
    FUZZ_CHECK(store_join(store, &turn, name, true) == 0);
    FUZZ_CHECK(store_enter(store, &turn, &wide, false, 0, &entered, &error) == ERROR_NONE);
    struct resident *r = store_make(store, &turn, 0, &tensor, &nobody, &error);
    FUZZ_CHECK(r && (r->block = store_block(store, r->bytes, &error)));
    r->tensor.data = r->block->bytes;
    memset(r->tensor.data, 0, r->bytes);
    store_install(store, &turn, 0, r, 0);
    store_leave(store, &turn, 0);
}

static void open_world(struct world *w)
{
    struct error error;
    memset(w, 0, sizeof *w);
    config_init(&w->server.config);
    blocks_init(&w->server.blocks, 0);
    budget_init(&w->server.budget, 4 * MIB);
    clients_init(&w->clients, 0);
    store_init(&w->server.store, &(struct store_setup){.blocks = &w->server.blocks,
                                                       .clients = &w->clients,
                                                       .memory = MIB,
                                                       .most = RESIDENTS + 1,
                                                       .most_keys = 2});
    put(w, names[0], DTYPE_FP32, 4);
    put(w, names[1], DTYPE_INT64, 2);
    put(w, names[2], DTYPE_FP32, 1);
    w->home = blocks_get(&w->server.blocks, HOME_BYTES);
    w->lane = backend_cpu.open(0, 0, &error);
    FUZZ_CHECK(w->home && w->lane);
    job_init(&w->job, &w->server.blocks, &w->server.budget, w->home);
}

/* The store checks that nothing of it is left charged. */
static void close_world(struct world *w)
{
    backend_cpu.close(w->lane);
    arena_release(&w->job.arena);
    blocks_put(&w->server.blocks, w->home);
    FUZZ_CHECK(budget_used(&w->server.budget) == 0);
    store_release(&w->server.store);
    clients_release(&w->clients);
    blocks_release(&w->server.blocks);
}

/* The tags of all that is there: they tell every change. */
struct tags {
    char text[RESIDENTS + 1][ETAG_MAX];
    int count;
};

static bool note_tag(const struct resident_view *view, void *context)
{
    struct tags *tags = context;
    FUZZ_CHECK(tags->count <= RESIDENTS);
    memcpy(tags->text[tags->count++], view->etag, ETAG_MAX);
    return true;
}

static struct tags tags_of(struct world *w)
{
    struct tags tags;
    memset(&tags, 0, sizeof tags);
    store_list(&w->server.store, "", 1, note_tag, &tags);
    for (int i = 0; i < tags.count; i++)
        memset(strchr(tags.text[i], '\0'), 0, ETAG_MAX - strlen(tags.text[i]));
    return tags;
}

/* ---------------------------------------------------------------------------- what is asked for */

static char *take_line(char **rest)
{
    char *line = *rest, *end = strchr(line, '\n');
    *rest = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return line;
}

static const char *or_none(const char *line)
{
    return *line ? line : NULL;
}

static void copy_name(char *to, const char *name, const char *otherwise)
{
    bool is_legal = name && tensor_name_is_legal(name, strlen(name));
    strcpy(to, is_legal ? name : otherwise);
}

/* False: the query is refused. */
static bool read_call(struct tensor_call *call, const struct query *query, struct error *error)
{
    const char *const *value = query->value;
    copy_name(call->name, value[QUERY_INTO], names[0]);
    copy_name(call->other, value[QUERY_MOVE], names[2]);
    call->most_ttl_ns = HOUR;
    call->has_rows = value[QUERY_ROWS] != NULL;
    return (!call->has_rows ||
            query_rows(value[QUERY_ROWS], &call->from, &call->to, error) == ERROR_NONE) &&
           (!value[QUERY_TTL] || tensor_ttl_parse(&call->ttl_ns, value[QUERY_TTL],
                                                  call->most_ttl_ns, error) == ERROR_NONE) &&
           (!value[QUERY_DATATYPE] || !value[QUERY_SHAPE] ||
            tensor_said_parse(&call->tensor, value[QUERY_DATATYPE], value[QUERY_SHAPE], error) ==
                ERROR_NONE);
}

static void choose_head(struct head *head, uint8_t form, size_t size)
{
    struct error error;
    static const char *const accepted[] = {NULL, "application/json", "application/octet-stream",
                                           "application/vnd.safetensors"};
    static const char *const types[] = {NULL, "application/json", "application/vnd.safetensors"};
    FUZZ_CHECK(head_parse(head, types[form % 3], NULL, NULL, accepted[form >> 2 & 3], &error) ==
               ERROR_NONE);
    if (form >> 4 && (size_t)(form >> 4) * 16 < size)
        head->header_length = (form >> 4) * 16;
}

/* False: it is refused before there is a job. */
static bool open_job(struct world *w, const uint8_t *choices, struct query *query, char **body)
{
    static struct tensor_call call;
    struct error *error = &w->job.error;
    struct job_setup setup = {.timeout_ns = 60 * SEC, .fd = -1};
    setup.rules = (struct request_rules){.body_limit = FUZZ_BODY_LIMIT,
                                         .json_limit = FUZZ_BODY_LIMIT,
                                         .output_limit = FUZZ_OUTPUT_LIMIT};
    int verb = choices[0] % 16;
    bool is_infer = verb >= VERBS;
    char *text = take_line(body);
    call = (struct tensor_call){.verb = is_infer ? VERB_READ : (enum verb)verb};
    const char *match = or_none(take_line(body)), *none_match = or_none(take_line(body));
    const char *key = or_none(take_line(body));
    setup.holds = (struct holds_setup){.store = &w->server.store,
                                       .bounds = {1000, SIZE_MAX},
                                       .token = "",
                                       .conditions = {match, none_match},
                                       .key = key,
                                       .target = target};
    if (query_read(query, text, ~0u, error) != ERROR_NONE ||
        conditions_check(&setup.holds.conditions, error) != ERROR_NONE)
        return false;
    choose_head(&setup.head, choices[1], strlen(*body));
    if (is_infer) {
        const struct op *op = op_at(choices[2] % op_count());
        FUZZ_CHECK(op_find(op->name, strlen(op->name), &setup.op));
        setup.head.tensor = query->value[QUERY_TENSOR];
        setup.head.into = query->value[QUERY_INTO];
    } else {
        if (!read_call(&call, query, error))
            return false;
        call.kind = tensor_body_of(&setup.head, choices[1] % 3 == 1 ? "application/json" : NULL,
                                   call.tensor.dtype != DTYPE_NONE);
        setup.call = &call;
    }
    job_open(&w->job, &setup);
    return true;
}

/* -------------------------------------------------------------------------------------- its way */

static void check_answer(const struct response *response)
{
    volatile unsigned char sum = 0;
    for (size_t i = 0; response->data && i < response->size; i++)
        sum = (unsigned char)(sum + (unsigned char)response->data[i]);
}

/* As the HTTP thread does it. */
static void run(struct world *w, const char *body, size_t size)
{
    struct job *job = &w->job;
    char *memory = arena_get(&job->arena, ANSWER_HEAD_ROOM + size);
    if (!memory)
        return;
    memcpy(memory + ANSWER_HEAD_ROOM, body, size);
    job_receive(job, memory + ANSWER_HEAD_ROOM, size);
    job_decode(job, 1, false);
    if (!job->decoded)
        return;
    FUZZ_CHECK(job_enter(job, false) == JOB_TURN_HELD);
    if (job->error.code == ERROR_NONE)
        job_plan(job);
    if (job->planned)
        job_run(job, &backend_cpu, w->lane, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world w;
    struct query query = {{NULL}};
    if (size < CHOICES)
        return 0;
    char *text = malloc(size + 1), *body = text;
    FUZZ_CHECK(text);
    memcpy(text, data + CHOICES, size - CHOICES);
    text[size - CHOICES] = '\0';
    open_world(&w);
    struct tags before = tags_of(&w);
    if (open_job(&w, data, &query, &body))
        run(&w, body, size - CHOICES - (size_t)(body - text));
    holds_release(&w.job.holds);
    struct tags after = tags_of(&w);
    if (w.job.error.code != ERROR_NONE) {
        fuzz_error(&w.job.error);
        FUZZ_CHECK(memcmp(&before, &after, sizeof before) == 0);
    } else {
        check_answer(&w.job.response);
    }
    close_world(&w);
    free(text);
    return 0;
}
