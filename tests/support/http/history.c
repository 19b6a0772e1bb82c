#include "tests/support/http/history.h"

#include "tests/support/golden/golden.h"
#include "tests/support/kernels/reference.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The writes by generation and version, and what the model makes of each. */
struct model {
    const struct event **writes;
    struct tensor *states; /* data owned; DTYPE_NONE: not known yet */
    int count;
};

static bool complain(const char *what, const struct event *e, struct stamp at)
{
    printf("%s: deed %d, %s, at version %" PRIu64 " of %016" PRIx64 "\n", what, (int)e->deed,
           e->op ? e->op->name : "no operation", at.version, at.generation);
    return false;
}

static int compare(struct stamp a, struct stamp b)
{
    if (a.generation != b.generation)
        return a.generation < b.generation ? -1 : 1;
    return a.version < b.version ? -1 : a.version > b.version;
}

static int compare_writes(const void *a, const void *b)
{
    return compare((*(const struct event *const *)a)->made,
                   (*(const struct event *const *)b)->made);
}

/* NULL: nobody made that version, or it is not known yet. */
static const struct tensor *state_of(const struct model *m, struct stamp at)
{
    int low = 0, high = m->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (compare(m->writes[middle]->made, at) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < m->count && compare(m->writes[low]->made, at) == 0 &&
                    m->states[low].dtype != DTYPE_NONE;
    return is_there ? &m->states[low] : NULL;
}

static size_t bytes_of(const struct tensor *t)
{
    size_t bytes;
    if (!tensor_bytes(t, &bytes))
        abort();
    return bytes;
}

static struct tensor copy_of(const struct tensor *t)
{
    struct tensor copy = *t;
    copy.data = malloc(bytes_of(t) + 1);
    if (!copy.data)
        abort();
    memcpy(copy.data, t->data, bytes_of(t));
    return copy;
}

/* The rows from `from` on that are as many as `like` has; a view. */
static bool rows_of(const struct tensor *t, int64_t from, const struct tensor *like,
                    struct tensor *rows)
{
    *rows = *t;
    if (like->dtype != t->dtype || like->rank != t->rank)
        return false;
    if (t->rank == 0)
        return true;
    if (from + like->shape[0] > t->shape[0])
        return false;
    rows->data =
        (char *)t->data + (t->shape[0] ? bytes_of(t) / (size_t)t->shape[0] : 0) * (size_t)from;
    rows->shape[0] = like->shape[0];
    return bytes_of(rows) == bytes_of(like);
}

/* ---------------------------------------------------------------------------- one after another */

static bool inputs_of(const struct model *m, const struct event *e, struct tensor *inputs)
{
    for (int i = 0; i < OP_INPUTS_MAX; i++) {
        const struct tensor *state =
            e->read[i].generation ? state_of(m, e->read[i]) : &e->inputs[i];
        if (!state)
            return false;
        inputs[i] = *state;
    }
    return true;
}

/* Whether the event is an operation whose result is the next version of the tensor that it started
 * from. */
static bool continues(const struct event *e)
{
    struct stamp before = {e->made.generation, e->made.version - 1};
    int table = op_value_input(e->op);
    return e->made.version == 1 ||
           (e->op->start == START_COPY && compare(e->read[table], before) == 0);
}

/* False: a fault. *state stays DTYPE_NONE as long as what it comes from is not known. */
static bool make_state(const struct model *m, const struct event *e, struct tensor *state)
{
    const struct tensor *before =
        state_of(m, (struct stamp){e->made.generation, e->made.version - 1});
    struct tensor rows, inputs[OP_INPUTS_MAX];
    struct reference r;
    switch (e->deed) {
    case DEED_PUT:
        *state = copy_of(&e->inputs[0]);
        return e->made.version == 1 || complain("a new tensor is not version 1", e, e->made);
    case DEED_ASSIGN:
        if (!before)
            return true;
        *state = copy_of(before);
        if (!rows_of(state, e->from, &e->inputs[0], &rows))
            return complain("rows that are not there were assigned", e, e->made);
        memcpy(rows.data, e->inputs[0].data, bytes_of(&rows));
        return true;
    case DEED_OPERATE:
        if (!continues(e))
            return complain("written over another version than was read", e, e->made);
        if (!inputs_of(m, e, inputs))
            return true;
        reference_run(&r, e->op->name, inputs, e->ignore_bad);
        *state = r.output;
        return r.code == ERROR_NONE || complain("the model finds a fault", e, e->made);
    case DEED_READ:
    case DEED_SEE:
        break;
    }
    return complain("what only reads made a version", e, e->made);
}

/* What depends on other generations is done when those are known. */
static bool make_states(struct model *m)
{
    int left = m->count, before;
    do {
        before = left;
        for (int i = 0; i < m->count; i++) {
            if (m->states[i].dtype != DTYPE_NONE)
                continue;
            if (!make_state(m, m->writes[i], &m->states[i]))
                return false;
            left -= m->states[i].dtype != DTYPE_NONE;
        }
    } while (left > 0 && left < before);
    for (int i = 0; i < m->count && left > 0; i++)
        if (m->states[i].dtype == DTYPE_NONE)
            return complain("made from a version that nobody made", m->writes[i],
                            m->writes[i]->made);
    return true;
}

static bool check_order(const struct model *m)
{
    for (int i = 0; i < m->count; i++) {
        struct stamp at = m->writes[i]->made,
                     last = i > 0 ? m->writes[i - 1]->made : (struct stamp){0};
        uint64_t expected = at.generation == last.generation ? last.version + 1 : 1;
        if (at.version != expected)
            return complain("versions with a gap, or one twice", m->writes[i], at);
    }
    return true;
}

/* ---------------------------------------------------------------------------- what was answered */

static bool check_output(const struct model *m, const struct event *e)
{
    struct tensor inputs[OP_INPUTS_MAX];
    struct reference r;
    struct stamp at = e->read[op_value_input(e->op)];
    if (!inputs_of(m, e, inputs))
        return complain("a version was read that nobody made", e, at);
    reference_run(&r, e->op->name, inputs, e->ignore_bad);
    bool agrees = r.code == ERROR_NONE && golden_equal(&r.output, &e->output);
    reference_release(&r);
    return agrees || complain("not what the model computes", e, at);
}

static bool check_read(const struct model *m, const struct event *e)
{
    const struct tensor *state = state_of(m, e->seen);
    struct tensor rows;
    if (!state)
        return complain("a version was told that nobody made", e, e->seen);
    return e->deed == DEED_SEE ||
           (rows_of(state, e->from, &e->output, &rows) && golden_equal(&rows, &e->output)) ||
           complain("not what the model has", e, e->seen);
}

static bool check_answer(const struct model *m, const struct event *e)
{
    bool is_dropped = e->deed == DEED_SEE && e->seen.generation == 0;
    if (e->was_refused || e->made.generation || is_dropped)
        return true;
    return e->deed == DEED_OPERATE ? check_output(m, e) : check_read(m, e);
}

static void count(const struct event *e, struct tally *tally)
{
    tally->refused += e->was_refused;
    if (e->was_refused)
        return;
    tally->writes += e->made.generation != 0;
    tally->reads += e->made.generation == 0;
    tally->dtypes[e->dtype]++;
    for (int i = 0; e->op && i < op_count(); i++)
        tally->ops[i] += op_at(i) == e->op;
}

bool history_agrees(const struct event *const *events, int event_count, struct tally *tally)
{
    struct model m = {.writes = calloc((size_t)event_count + 1, sizeof *m.writes),
                      .states = calloc((size_t)event_count + 1, sizeof *m.states)};
    bool agrees = m.writes && m.states;
    for (int i = 0; agrees && i < event_count; i++)
        if (!events[i]->was_refused && events[i]->made.generation)
            m.writes[m.count++] = events[i];
    if (agrees)
        qsort(m.writes, (size_t)m.count, sizeof *m.writes, compare_writes);
    agrees = agrees && check_order(&m) && make_states(&m);
    for (int i = 0; agrees && i < event_count; i++) {
        agrees = check_answer(&m, events[i]);
        count(events[i], tally);
    }
    for (int i = 0; i < m.count; i++)
        free(m.states[i].data);
    free(m.states);
    free(m.writes);
    return agrees;
}

void event_release(struct event *e)
{
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        free(e->inputs[i].data);
    free(e->output.data);
}
