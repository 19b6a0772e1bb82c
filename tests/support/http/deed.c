#include "tests/support/http/deed.h"

#include "tests/support/golden/golden.h"
#include "tests/support/kernels/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 8 /* or twice as many */, WIDTH = 3, PICKS = 4, SEGMENTS = 3 };

static const char role_letters[ROLES] = "vxyuijpsnh";

int choose_below(struct chooser *c, int below)
{
    return (int)((unsigned)rand_r(&c->seed) >> 4) % below;
}

bool choose_once_in(struct chooser *c, int n)
{
    return choose_below(c, n) == 0;
}

const char *deed_name(enum role role, int table, char *name)
{
    sprintf(name, "%c%d", role_letters[role], role <= UPDATES ? table : 0);
    return name;
}

/* -------------------------------------------------------------------------------------- tensors */

/* Sets a small value, never 0. */
static void fill_value(struct chooser *c, struct tensor *t, int64_t i)
{
    int value = 1 + choose_below(c, 100);
    struct number number = {.i = value};
    if (number_is_float(t->dtype))
        number = (struct number){.f = (choose_once_in(c, 2) ? -value : value) / 8.0};
    else if (t->dtype == DTYPE_BOOL)
        number.i = choose_below(c, 2);
    else if (choose_once_in(c, 4))
        number.i = -value;
    number_store(t, i, number);
}

/* Makes a tensor of a role, with `rows` rows; 0: as many as the role has. */
static void make(struct chooser *c, struct tensor *t, enum dtype dtype, enum role role, int rows)
{
    static const struct {
        int rank;
        int64_t shape[2];
    } shapes[ROLES] = {[TABLE] = {2, {ROWS, WIDTH}},
                       [SPARE] = {2, {ROWS, WIDTH}},
                       [RESULT] = {2, {ROWS, WIDTH}},
                       [UPDATES] = {2, {PICKS, WIDTH}},
                       [TUPLES32] = {2, {PICKS, 1}},
                       [TUPLES64] = {2, {PICKS, 1}},
                       [PICKED] = {1, {PICKS}},
                       [IDS] = {1, {PICKS}},
                       [COUNT] = {0},
                       [SHAPE] = {1, {2}}};
    static const enum dtype dtypes[ROLES] = {
        [TUPLES32] = DTYPE_INT32, [TUPLES64] = DTYPE_INT64, [PICKED] = DTYPE_INT64,
        [IDS] = DTYPE_INT32,      [COUNT] = DTYPE_INT32,    [SHAPE] = DTYPE_INT64};
    *t =
        (struct tensor){.dtype = role <= UPDATES ? dtype : dtypes[role], .rank = shapes[role].rank};
    memcpy(t->shape, shapes[role].shape, sizeof shapes[role].shape);
    if (role == TABLE && choose_once_in(c, 3))
        t->shape[0] *= 2;
    if (rows > 0)
        t->shape[0] = rows;
    t->data = calloc(2 * ROWS * WIDTH, 16);
    if (!t->data)
        abort();
    int64_t numbers = golden_numbers(t), last = 0;
    for (int64_t i = 0; i < numbers; i++) {
        if (role <= UPDATES) {
            fill_value(c, t, i);
            continue;
        }
        last = role == IDS             ? last + (last < SEGMENTS - 1 && choose_once_in(c, 2))
               : role == COUNT         ? SEGMENTS
               : role == SHAPE         ? (i == 0 ? ROWS : WIDTH)
               : choose_once_in(c, 60) ? ROWS + choose_below(c, ROWS) /* perhaps out of bounds */
                                       : choose_below(c, ROWS);
        number_store(t, i, (struct number){.i = last});
    }
}

/* ----------------------------------------------------------------------------------- what to do */

/* Which role an input that is no table has; ROLES: the history does not know it. */
static enum role role_of(struct chooser *c, const struct op *op, int input)
{
    const char *name = op->inputs[input];
    if (op->values >> input & 1)
        return UPDATES;
    if (strcmp(name, "indices") == 0)
        return op->ranks[input].most == 1 ? PICKED : choose_once_in(c, 2) ? TUPLES32 : TUPLES64;
    if (strcmp(name, "segment_ids") == 0)
        return IDS;
    if (strcmp(name, "num_segments") == 0)
        return COUNT;
    return strcmp(name, "shape") == 0 ? SHAPE : ROLES;
}

static bool picks_rows(const struct op *op)
{
    return op_input(op, "indices", strlen("indices")) >= 0;
}

static void choose_inputs(struct chooser *c, struct event *e, struct sent_inputs *p, int table)
{
    const struct op *op = e->op;
    int value = op_value_input(op);
    bool updates_itself = p->is_json && op->start == START_COPY && choose_once_in(c, 8);
    p->reads_table = strcmp(op->inputs[value], "updates") != 0;
    for (int i = 0; i < op_inputs(op); i++) {
        enum role role = role_of(c, op, i);
        bool is_optional = i >= op->required, has_a_row_each = role == IDS && !picks_rows(op);
        if (is_optional && (role == ROLES || choose_once_in(c, 2)))
            continue;
        if (i == value && p->reads_table)
            continue; /* the parameter `tensor` */
        if (updates_itself && role == UPDATES)
            p->references[i] = deed_name(TABLE, table, p->names[i]);
        else if (p->is_json && !updates_itself && !has_a_row_each && choose_once_in(c, 5))
            p->references[i] = deed_name(role, table, p->names[i]);
        else
            make(c, &e->inputs[i], e->dtype, role, updates_itself || has_a_row_each ? ROWS : 0);
    }
}

bool deed_knows(struct chooser *c, const struct op *op)
{
    for (int i = 0; i < op->required; i++)
        if (role_of(c, op, i) == ROLES)
            return false;
    return true;
}

static const struct op *choose_op(struct chooser *c, enum dtype dtype)
{
    const struct op *op;
    do
        op = op_at(choose_below(c, op_count()));
    while (!(op->dtypes >> dtype & 1) || !deed_knows(c, op));
    return op;
}

static bool has_v2_name(enum dtype dtype)
{
    const char *name = dtype_name(dtype);
    return dtype_from_v2(name, strlen(name)) == dtype;
}

static void fill_operation(struct chooser *c, struct event *e, struct message *s, int table,
                           struct sent_inputs *p)
{
    char name[8], more[160] = "";
    bool in_url = choose_once_in(c, 2);
    e->op = choose_op(c, e->dtype);
    e->ignore_bad = choose_once_in(c, 2);
    p->is_json = has_v2_name(e->dtype) && !choose_once_in(c, 4);
    choose_inputs(c, e, p, table);
    if (e->op->start == START_COPY && !choose_once_in(c, 4))
        deed_name(TABLE, table, p->into);
    else if (choose_once_in(c, 4))
        deed_name(e->op->start == START_COPY ? SPARE : RESULT, table, p->into);
    message_init(s, "POST", "/v2/models/%s/infer?", e->op->names[0].text);
    sprintf(more, "\"bad_indices_policy\":\"%s\"", e->ignore_bad ? "IGNORE" : "ERROR");
    if (p->reads_table)
        sprintf(in_url ? strchr(s->path, '\0') : strchr(more, '\0'),
                in_url ? "tensor=%s&" : ",\"tensor\":\"%s\"", deed_name(TABLE, table, name));
    if (*p->into)
        sprintf(in_url ? strchr(s->path, '\0') : strchr(more, '\0'),
                in_url ? "into=%s" : ",\"into\":\"%s\"", p->into);
    message_inputs(s, e->op, e->inputs, p->references, more, p->is_json);
}

void deed_put(struct chooser *c, struct event *e, struct message *s, enum role role, int table)
{
    char name[8];
    make(c, &e->inputs[0], e->dtype, role, 0);
    e->dtype = e->inputs[0].dtype;
    message_init(s, "PUT", "/v2/tensors/%s?", deed_name(role, table, name));
    message_tensor(s, &e->inputs[0], has_v2_name(e->dtype) && choose_once_in(c, 2));
}

static void fill_assign(struct chooser *c, struct event *e, struct message *s, int table)
{
    char name[8];
    make(c, &e->inputs[0], e->dtype, UPDATES, 1 + choose_below(c, PICKS));
    e->from = choose_below(c, 2 * ROWS - PICKS);
    message_init(s, "PUT", "/v2/tensors/%s/data?rows=%" PRId64 ":%" PRId64,
                 deed_name(TABLE, table, name), e->from, e->from + e->inputs[0].shape[0]);
    message_tensor(s, &e->inputs[0], has_v2_name(e->dtype) && choose_once_in(c, 2));
}

static void fill_read(struct chooser *c, struct event *e, struct message *s, int table)
{
    static const enum role roles[] = {TABLE, TABLE, TABLE, SPARE, RESULT, UPDATES};
    char name[8];
    message_init(s, "GET", "/v2/tensors/%s/data",
                 deed_name(roles[choose_below(c, 6)], table, name));
    if (choose_once_in(c, 2)) {
        e->from = choose_below(c, PICKS);
        sprintf(strchr(s->path, '\0'), "?rows=%" PRId64 ":%" PRId64, e->from,
                e->from + 1 + choose_below(c, PICKS));
    }
}

static void fill_see(struct chooser *c, struct message *s, int table)
{
    char name[8], other[8];
    deed_name(TABLE, table, name);
    if (choose_once_in(c, 3))
        message_init(s, "PUT", "/v2/tensors/%s?move=%s", name, deed_name(SPARE, table, other));
    else if (choose_once_in(c, 3))
        message_init(s, "DELETE", "/v2/tensors/%s", name);
    else if (choose_once_in(c, 2))
        message_init(s, "GET", "/v2/tensors/%s", name);
    else {
        message_init(s, "PATCH", "/v2/tensors/%s", name);
        s->size = (size_t)sprintf(s->body, "{\"ttl\":\"%dh\"}", 1 + choose_below(c, 9));
    }
}

void deed_choose(struct chooser *c, struct event *e, struct message *s, struct sent_inputs *p)
{
    int what = choose_below(c, 64), table = choose_below(c, DEED_TABLES);
    e->dtype = c->dtypes[table];
    e->deed = what < 8    ? DEED_PUT
              : what < 16 ? DEED_ASSIGN
              : what < 52 ? DEED_OPERATE
              : what < 62 ? DEED_READ
                          : DEED_SEE;
    switch (e->deed) {
    case DEED_PUT:
        deed_put(c, e, s, choose_once_in(c, 3) ? (enum role)choose_below(c, ROLES) : TABLE, table);
        break;
    case DEED_ASSIGN:
        fill_assign(c, e, s, table);
        break;
    case DEED_OPERATE:
        fill_operation(c, e, s, table, p);
        break;
    case DEED_READ:
        fill_read(c, e, s, table);
        break;
    case DEED_SEE:
        fill_see(c, s, table);
        break;
    }
}
