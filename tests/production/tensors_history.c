/* A random history of reads and writes of resident tensors from many connections at once, against a
 * model that applies the writes one by one in the order of their versions: every answer of every
 * reader is the model's at the version that it names.
 *
 *   tensors_history [STEPS]
 *
 * Each client keeps what it was answered. When all are done, the writes of each generation of each
 * name are put in the order of their versions, which must be without a gap, and applied to plain
 * arrays. */
#include "tests/support/http/fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 8, NAMES = 3, ROWS = 16, WIDTH = 3, PICKS = 4, STEPS_STANDARD = 4000 };

typedef int32_t table[ROWS][WIDTH];

enum kind { PUT, ASSIGN, ADD, SUB, UPDATE, MAX, GATHER, READ, KINDS };

/* What a client asked and what it was told. */
struct event {
    enum kind kind;
    int name;
    uint64_t generation, version; /* written, else read */
    int count, rows[PICKS];
    int32_t values[ROWS][WIDTH]; /* sent, else received */
    bool was_refused;            /* by its condition: nothing was applied */
};

struct member {
    pthread_t thread;
    struct client client;
    unsigned seed;
    int number, steps, done;
    struct event *events;
    bool failed;
};

static int pick(struct member *m, int below)
{
    return (int)((unsigned)rand_r(&m->seed) >> 4) % below;
}

static bool read_tag(const struct answer *a, struct event *e)
{
    const char *etag = answer_header(a, "ETag");
    unsigned long long generation, epoch, version;
    if (!etag || sscanf(etag, "\"%llx-%llx-%llu\"", &generation, &epoch, &version) != 3)
        return false;
    e->generation = generation;
    e->version = version;
    return true;
}

/* A binary body: JSON, then tensors. */
static size_t join(char *body, const char *json, const void *first, size_t first_size,
                   const void *second, size_t second_size)
{
    size_t size = strlen(json);
    memcpy(body, json, size);
    memcpy(body + size, first, first_size);
    memcpy(body + size + first_size, second, second_size);
    return size + first_size + second_size;
}

static const char *const ops[KINDS] = {[ADD] = "tensor_scatter_add",
                                       [SUB] = "tensor_scatter_sub",
                                       [UPDATE] = "tensor_scatter_update",
                                       [MAX] = "tensor_scatter_max",
                                       [GATHER] = "gather_nd"};

struct sent {
    char path[160], header[64], condition[96], body[4096];
    size_t size;
    const char *method;
};

static void fill(struct member *m, struct event *e, struct sent *s)
{
    size_t row = sizeof e->values[0];
    char json[512];
    s->method = "PUT";
    s->size = 0;
    s->header[0] = s->condition[0] = '\0';
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDTH; j++)
            e->values[i][j] = pick(m, 2000) - 1000;
    switch (e->kind) {
    case PUT:
        sprintf(s->path, "/v2/tensors/t%d?datatype=INT32&shape=%d,%d", e->name, ROWS, WIDTH);
        s->size = ROWS * row;
        memcpy(s->body, e->values, s->size);
        break;
    case ASSIGN:
        e->rows[0] = pick(m, ROWS - PICKS);
        e->count = 1 + pick(m, PICKS);
        sprintf(s->path, "/v2/tensors/t%d/data?rows=%d:%d&datatype=INT32&shape=%d,%d", e->name,
                e->rows[0], e->rows[0] + e->count, e->count, WIDTH);
        s->size = (size_t)e->count * row;
        memcpy(s->body, e->values, s->size);
        break;
    case READ:
        s->method = "GET";
        sprintf(s->path, "/v2/tensors/t%d/data", e->name);
        strcpy(s->header, "Accept: application/octet-stream");
        break;
    default:
        s->method = "POST";
        e->count = PICKS;
        for (int i = 0; i < PICKS; i++)
            e->rows[i] = pick(m, ROWS);
        sprintf(json,
                "{\"inputs\":[{\"name\":\"indices\",\"datatype\":\"INT32\",\"shape\":[%d,1],"
                "\"parameters\":{\"binary_data_size\":%zu}}",
                PICKS, PICKS * sizeof(int32_t));
        if (e->kind != GATHER)
            sprintf(json + strlen(json),
                    ",{\"name\":\"updates\",\"datatype\":\"INT32\",\"shape\":[%d,%d],"
                    "\"parameters\":{\"binary_data_size\":%zu}}",
                    PICKS, WIDTH, PICKS * row);
        strcat(json, e->kind == GATHER ? "],\"parameters\":{\"binary_data_output\":true}}" : "]}");
        sprintf(s->path, "/v2/models/%s/infer?tensor=t%d", ops[e->kind], e->name);
        if (e->kind != GATHER)
            sprintf(s->path + strlen(s->path), "&into=t%d", e->name);
        sprintf(s->header, "Inference-Header-Content-Length: %zu", strlen(json));
        s->size = join(s->body, json, e->rows, PICKS * sizeof(int32_t), e->values,
                       e->kind == GATHER ? 0 : PICKS * row);
    }
}

static bool hear(struct event *e, const struct answer *a, bool is_conditional)
{
    if (a->status == 412 && is_conditional) {
        e->was_refused = true;
        return true;
    }
    if ((a->status != 200 && a->status != 201) || !read_tag(a, e))
        return false;
    if (e->kind == READ) {
        if (a->size != sizeof e->values)
            return false;
        memcpy(e->values, a->body, a->size);
    } else if (e->kind == GATHER) {
        size_t size;
        const char *rows = answer_tensors(a, &size);
        if (!rows || size != PICKS * sizeof e->values[0])
            return false;
        memcpy(e->values, rows, size);
    }
    return true;
}

static bool step(struct member *m, struct event *e)
{
    static const enum kind mix[] = {PUT, ASSIGN, ASSIGN, ADD,    ADD,    ADD,    SUB,  UPDATE,
                                    MAX, GATHER, GATHER, GATHER, GATHER, GATHER, READ, READ};
    struct sent s;
    struct answer a, again;
    memset(e, 0, sizeof *e);
    e->kind = mix[pick(m, (int)(sizeof mix / sizeof *mix))];
    if (e->kind == PUT && pick(m, 4) != 0)
        e->kind = ADD;
    e->name = pick(m, NAMES);
    fill(m, e, &s);
    bool writes = e->kind != GATHER && e->kind != READ;
    bool is_conditional = writes && pick(m, 8) == 0 && m->done > 0;
    bool is_repeated = writes && !is_conditional && pick(m, 16) == 0;
    if (is_conditional) {
        const struct event *last = &m->events[m->done - 1];
        snprintf(s.condition, sizeof s.condition, "If-Match: \"%016llx-0-%llu\"",
                 (unsigned long long)last->generation, (unsigned long long)last->version);
    }
    if (is_repeated)
        snprintf(s.condition, sizeof s.condition, "Idempotency-Key: %d-%d", m->number, m->done);
    struct call call = {.method = s.method, .path = s.path, .body = s.body, .size = s.size};
    int headers = 0;
    call.headers[headers++] = "Content-Type: application/octet-stream";
    if (*s.header)
        call.headers[headers++] = s.header;
    if (*s.condition)
        call.headers[headers++] = s.condition;
    if (s.size == 0)
        call.body = NULL;
    if (!client_call(&m->client, &call, &a))
        return false;
    bool fine = hear(e, &a, is_conditional);
    if (!fine)
        print_error("%s %s: %d %s\n", s.method, s.path, a.status, a.body);
    if (fine && is_repeated) {
        if (!client_call(&m->client, &call, &again))
            return false;
        fine = again.status == a.status && again.size == a.size &&
               memcmp(again.body, a.body, a.size) == 0 &&
               answer_header(&again, "Idempotent-Replayed");
        if (!fine)
            print_error("replay of %s: %d %s\n", s.path, again.status, again.body);
        answer_release(&again);
    }
    answer_release(&a);
    return fine;
}

static void *run(void *context)
{
    struct member *m = context;
    for (; m->done < m->steps && !m->failed; m->done++)
        m->failed = !step(m, &m->events[m->done]);
    return NULL;
}

/* ------------------------------------------------------------------------------------ the model */

static void apply(const struct event *e, table t)
{
    for (int k = 0; k < (e->kind == PUT ? ROWS : e->count); k++) {
        int row = e->kind == PUT ? k : e->kind == ASSIGN ? e->rows[0] + k : e->rows[k];
        for (int j = 0; j < WIDTH; j++) {
            int32_t *at = &t[row][j], u = e->values[k][j];
            *at = e->kind == ADD   ? (int32_t)((uint32_t)*at + (uint32_t)u)
                  : e->kind == SUB ? (int32_t)((uint32_t)*at - (uint32_t)u)
                  : e->kind == MAX ? (*at > u ? *at : u)
                                   : u;
        }
    }
}

static bool agrees(const struct event *e, table t)
{
    if (e->kind == READ)
        return memcmp(e->values, t, sizeof(table)) == 0;
    for (int k = 0; k < e->count; k++)
        if (memcmp(e->values[k], t[e->rows[k]], sizeof t[0]) != 0)
            return false;
    return true;
}

/* By name, generation and version, a write before the reads of what it made. */
static int compare(const void *a, const void *b)
{
    const struct event *x = *(struct event *const *)a, *y = *(struct event *const *)b;
    bool x_reads = x->kind == GATHER || x->kind == READ,
         y_reads = y->kind == GATHER || y->kind == READ;
#define BY(X, Y)                                                                                   \
    if ((X) != (Y))                                                                                \
        return (X) < (Y) ? -1 : 1;
    BY(x->name, y->name)
    BY(x->generation, y->generation)
    BY(x->version, y->version)
    BY(x_reads, y_reads)
#undef BY
    return 0;
}

static void check(struct event **all, int count)
{
    table t;
    int writes = 0, reads = 0;
    const struct event *last = NULL;
    qsort(all, (size_t)count, sizeof *all, compare);
    for (int i = 0; i < count; i++) {
        const struct event *e = all[i];
        bool reads_it = e->kind == GATHER || e->kind == READ;
        if (!last || last->name != e->name || last->generation != e->generation) {
            assert_int_equal(e->kind, PUT);
            assert_int_equal(e->version, 1);
        } else if (!reads_it) {
            assert_int_equal(e->version, last->version + 1);
        } else {
            assert_int_equal(e->version, last->version);
        }
        if (reads_it && !agrees(e, t))
            fail_msg("t%d at version %llu of %llx: not what the writes make", e->name,
                     (unsigned long long)e->version, (unsigned long long)e->generation);
        if (!reads_it)
            apply(e, t);
        reads += reads_it;
        writes += !reads_it;
        last = e;
    }
    print_message("%d writes and %d reads agree\n", writes, reads);
}

static int steps = STEPS_STANDARD;

static void every_answer_is_the_models(void **state)
{
    static struct member members[CLIENTS];
    struct fixture *f = *state;
    int count = 0, each = steps / CLIENTS;
    struct event *first = calloc(NAMES, sizeof *first);
    struct event **all = malloc((size_t)(steps + NAMES) * sizeof *all);
    assert_true(first && all);
    for (int name = 0; name < NAMES; name++) {
        char path[96];
        table zeros = {{0}};
        snprintf(path, sizeof path, "/v2/tensors/t%d?datatype=INT32&shape=%d,%d", name, ROWS,
                 WIDTH);
        struct answer a = fixture_call(
            f, &(struct call){.method = "PUT", .path = path, .body = zeros, .size = sizeof zeros});
        first[name] = (struct event){.kind = PUT, .name = name};
        assert_true(read_tag(&a, &first[name]));
        answer_release(&a);
        all[count++] = &first[name];
    }
    for (int i = 0; i < CLIENTS; i++) {
        struct member *m = &members[i];
        *m = (struct member){.seed = (unsigned)i * 7919 + 1, .number = i, .steps = each};
        m->events = calloc((size_t)each, sizeof *m->events);
        assert_non_null(m->events);
        assert_true(client_init(&m->client, f->server.port));
        assert_int_equal(pthread_create(&m->thread, NULL, run, m), 0);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(members[i].thread, NULL);
        assert_false(members[i].failed);
        for (int n = 0; n < members[i].done; n++)
            if (!members[i].events[n].was_refused)
                all[count++] = &members[i].events[n];
    }
    check(all, count);
    for (int i = 0; i < CLIENTS; i++) {
        client_release(&members[i].client);
        free(members[i].events);
    }
    free(first);
    free(all);
}

/* So many keys that none is refused. */
static int start_inline(void **state)
{
    static const char *const settings[] = {"--tensor_keys=65536", "--log_requests=false", NULL};
    return fixture_start_with(state, settings);
}

/* Every job waits for a worker, also between its turn and its run. */
static int start_queued(void **state)
{
    static const char *const settings[] = {"--tensor_keys=65536", "--log_requests=false",
                                           "--inline_bytes=0", "--workers=3", NULL};
    return fixture_start_with(state, settings);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_answer_is_the_models)};
    if (argc > 1)
        steps = atoi(argv[1]);
    int failed = cmocka_run_group_tests_name("inline", tests, start_inline, fixture_stop);
    return failed + cmocka_run_group_tests_name("queued", tests, start_queued, fixture_stop);
}
