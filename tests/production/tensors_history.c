/* A random history of writes and reads of resident tensors from many connections at once: every
 * operation of the table, every type that can be kept, rows, replacement by another shape, moves,
 * DELETE, conditions, repeats under a key. Each client keeps what it was answered; the model of
 * tests/support/http/history.h then does all of it again.
 *
 *   tensors_history [STEPS]
 *
 * It goes in rounds, each with new names, whose types come in turn. */
#include "tests/support/http/deed.h"
#include "tests/support/http/fixture.h"
#include "tests/support/http/preload.h"
#include "tests/support/http/scratch.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLIENTS = 8,
    ROUND_STEPS = 3000,
    STEPS_STANDARD = (PRELOAD_WORKS ? 4 : 3) * ROUND_STEPS /* under a sanitizer fewer */
};

struct member {
    pthread_t thread;
    struct client client;
    struct chooser chooser;
    int number, round, steps, done;
    struct event *events;
    bool failed;
};

/* ---------------------------------------------------------------------------- what was answered */

static bool read_stamp(const char *text, struct stamp *stamp)
{
    uint64_t epoch;
    return text && sscanf(text, "%" SCNx64 "-%" SCNx64 "-%" SCNu64, &stamp->generation, &epoch,
                          &stamp->version) == 3;
}

static bool read_etag(const struct answer *a, struct stamp *stamp)
{
    const char *etag = answer_header(a, "ETag");
    return etag && *etag == '"' && read_stamp(etag + 1, stamp);
}

/* "tensor_etag":"\"0123...-0-7\"" among the answer's parameters. */
static bool read_parameter(const struct answer *a, const char *input, struct stamp *stamp)
{
    char name[40];
    size_t size = (size_t)sprintf(name, "\"%s_etag\":\"\\\"", input);
    const char *found = memmem(a->body, a->size, name, size);
    return found && read_stamp(found + size, stamp);
}

static bool hear_operation(struct event *e, const struct answer *a, const struct sent_inputs *p)
{
    int table = op_value_input(e->op);
    if (p->reads_table && !read_parameter(a, "tensor", &e->read[table]))
        return false;
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        if (p->references[i] && !read_parameter(a, e->op->inputs[i], &e->read[i]))
            return false;
    if (*p->into)
        return read_etag(a, &e->made);
    return message_output(a, &e->output);
}

static bool hear_read(struct event *e, const struct answer *a)
{
    return read_etag(a, &e->seen) && message_output(a, &e->output);
}

/* Refusals that others' writes, a condition or a bad index bring about. */
static bool may_be_refused(const struct answer *a, bool is_conditional)
{
    static const char *const codes[] = {"TENSOR_NOT_FOUND", "INDEX_OUT_OF_BOUNDS",
                                        "ROWS_OUT_OF_RANGE", "SHAPE_MISMATCH", "DIVISION_BY_ZERO"};
    const char *code = answer_header(a, "Error-Code");
    bool may = is_conditional && a->status == 412;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        may |= code && strcmp(code, codes[i]) == 0;
    return may;
}

static bool hear(struct event *e, const struct answer *a, const struct sent_inputs *p,
                 bool is_conditional)
{
    if (a->status == 204)
        return true;
    e->was_refused = a->status >= 400;
    if (e->was_refused)
        return may_be_refused(a, is_conditional);
    switch (e->deed) {
    case DEED_PUT:
    case DEED_ASSIGN:
        return read_etag(a, &e->made);
    case DEED_OPERATE:
        return hear_operation(e, a, p);
    case DEED_READ:
        return hear_read(e, a);
    case DEED_SEE:
        break;
    }
    return read_etag(a, &e->seen);
}

/* Adds a condition on the last tag that this client was told, of whatever tensor. */
static void add_condition(struct member *m, struct message *s)
{
    struct stamp last = {1, 1};
    for (int i = m->done - 1; i >= 0 && i > m->done - 8; i--)
        if (m->events[i].made.generation)
            last = m->events[i].made;
    message_header(s, "If-%sMatch: \"%016" PRIx64 "-0-%" PRIu64 "\"",
                   choose_once_in(&m->chooser, 3) ? "None-" : "", last.generation, last.version);
}

static bool is_replay(const struct answer *first, const struct answer *again)
{
    const char *etags[] = {answer_header(first, "ETag"), answer_header(again, "ETag")};
    return again->status == first->status && again->size == first->size &&
           memcmp(again->body, first->body, first->size) == 0 &&
           (!etags[0] || (etags[1] && strcmp(etags[0], etags[1]) == 0)) &&
           answer_header(again, "Idempotent-Replayed");
}

static bool step(struct member *m, struct event *e)
{
    struct sent_inputs p = {0};
    struct message s;
    struct answer a, again;
    deed_choose(&m->chooser, e, &s, &p);
    bool writes = *p.into || e->deed == DEED_PUT || e->deed == DEED_ASSIGN;
    bool is_conditional = writes && choose_once_in(&m->chooser, 8);
    bool is_repeated = writes && !is_conditional && choose_once_in(&m->chooser, 12);
    if (!p.is_json || e->deed == DEED_READ)
        message_header(&s, "Accept: application/vnd.safetensors");
    if (is_conditional)
        add_condition(m, &s);
    if (is_repeated)
        message_header(&s, "Idempotency-Key: \"%d-%d-%d\"", m->round, m->number, m->done);
    struct call call = message_call(&s);
    if (!client_call(&m->client, &call, &a))
        return false;
    bool fine = hear(e, &a, &p, is_conditional);
    if (fine && is_repeated && !e->was_refused) {
        if (!client_call(&m->client, &call, &again))
            return false;
        fine = is_replay(&a, &again);
        answer_release(&again);
    }
    if (!fine)
        print_error("%s %s%s: %d %s\n", s.method, s.path, is_repeated ? ", twice" : "", a.status,
                    a.body);
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

/* --------------------------------------------------------------------------------------- rounds */

static void start_round(struct fixture *f, struct member *maker, struct event *first)
{
    for (int role = 0; role < ROLES; role++)
        for (int table = 0; table < (role <= UPDATES ? DEED_TABLES : 1); table++) {
            struct event *e = first++;
            struct message s;
            e->dtype = maker->chooser.dtypes[table];
            e->deed = DEED_PUT;
            deed_put(&maker->chooser, e, &s, (enum role)role, table);
            struct call call = message_call(&s);
            struct answer a = fixture_call(f, &call);
            if (a.status >= 300 || !read_etag(&a, &e->made))
                fail_msg("%s: %d %s", s.path, a.status, a.body);
            answer_release(&a);
        }
}

static void end_round(struct fixture *f)
{
    for (int role = 0; role < ROLES; role++)
        for (int table = 0; table < (role <= UPDATES ? DEED_TABLES : 1); table++) {
            char path[64] = "/v2/tensors/";
            deed_name((enum role)role, table, path + strlen(path));
            struct answer a = fixture_call(f, &(struct call){.method = "DELETE", .path = path});
            assert_true(a.status == 204 || a.status == 404);
            answer_release(&a);
        }
}

static void run_members(struct fixture *f, struct member *members)
{
    for (int i = 0; i < CLIENTS; i++) {
        assert_true(client_init(&members[i].client, f->server.port));
        assert_int_equal(pthread_create(&members[i].thread, NULL, run, &members[i]), 0);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(members[i].thread, NULL);
        client_release(&members[i].client);
        assert_false(members[i].failed);
    }
}

static void one_round(struct fixture *f, int round, int steps, const enum dtype *dtypes,
                      struct tally *tally)
{
    enum { FIRST = ROLES + (UPDATES + 1) * (DEED_TABLES - 1) };
    struct member members[CLIENTS];
    int each = steps / CLIENTS, count = FIRST + each * CLIENTS;
    struct event *events = calloc((size_t)count, sizeof *events);
    const struct event **all = calloc((size_t)count, sizeof *all);
    assert_true(events && all);
    for (int i = 0; i < CLIENTS; i++)
        members[i] =
            (struct member){.chooser = {dtypes, (unsigned)(round * CLIENTS + i) * 7919 + 1},
                            .number = i,
                            .round = round,
                            .steps = each,
                            .events = events + FIRST + i * each};
    start_round(f, &members[0], events);
    run_members(f, members);
    for (int i = 0; i < count; i++)
        all[i] = &events[i];
    assert_true(history_agrees(all, count, tally));
    for (int i = 0; i < count; i++)
        event_release(&events[i]);
    free(events);
    free(all);
    end_round(f);
}

/* The next type that can be kept. */
static enum dtype next_dtype(enum dtype dtype)
{
    do
        dtype = dtype + 1 < DTYPE_COUNT ? (enum dtype)(dtype + 1) : (enum dtype)(DTYPE_NONE + 1);
    while (!dtype_safetensors_name(dtype));
    return dtype;
}

/* Every type and every operation came, and most was not refused. */
static void check_tally(struct member *any, const struct tally *tally)
{
    print_message("%" PRId64 " writes and %" PRId64 " reads agree, %" PRId64 " were refused\n",
                  tally->writes, tally->reads, tally->refused);
    assert_true(tally->refused < (tally->writes + tally->reads) / 2);
    for (int i = 0; i < op_count(); i++)
        if (tally->ops[i] == 0 && deed_knows(&any->chooser, op_at(i)))
            fail_msg("%s never came", op_at(i)->name);
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++)
        if (tally->dtypes[d] == 0 && dtype_safetensors_name((enum dtype)d))
            fail_msg("%s never came", dtype_name((enum dtype)d));
}

static int steps = STEPS_STANDARD;

static void every_answer_is_the_models(void **state)
{
    struct tally tally = {0};
    enum dtype dtypes[DEED_TABLES], last = DTYPE_NONE;
    for (int round = 0, left = steps; left > 0; round++, left -= ROUND_STEPS) {
        for (int i = 0; i < DEED_TABLES; i++)
            dtypes[i] = last = next_dtype(last);
        one_round(*state, round, left < ROUND_STEPS ? left : ROUND_STEPS, dtypes, &tally);
    }
    check_tally(&(struct member){.chooser = {dtypes, 1}}, &tally);
}

/* Room for so many keys that none is refused. */
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

/* Snapshots are written all the time, and DELETE and moves change the folder. */
static struct scratch scratch;

static int start_saved(void **state)
{
    scratch_make(&scratch);
    const char *const settings[] = {"--tensor_keys=65536", "--log_requests=false", scratch.setting,
                                    "--snapshot_interval=1ms", NULL};
    int failed = fixture_start_with(state, settings);
    return failed || !server_says(&((struct fixture *)*state)->server, "tensors loaded", 1);
}

static int stop_saved(void **state)
{
    int failed = fixture_stop(state);
    scratch_remove(&scratch);
    return failed;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_answer_is_the_models)};
    if (argc > 1)
        steps = atoi(argv[1]);
    int failed = cmocka_run_group_tests_name("inline", tests, start_inline, fixture_stop);
    failed += cmocka_run_group_tests_name("queued", tests, start_queued, fixture_stop);
    return failed + cmocka_run_group_tests_name("saved", tests, start_saved, stop_saved);
}
