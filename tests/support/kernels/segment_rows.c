#include "tests/support/kernels/segment_rows.h"

#include "kernels/plan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Columns of combine.h as sets of types. */
#define TYPES_IF_YES(types)         (types)
#define TYPES_IF_AS_UNSIGNED(types) (types)
#define TYPES_IF_NO(types)          0u

static const struct {
    const char *name;
    enum combine combine;
    dtype_set dtypes;
} combines[] = {
#define ROW(X, NAME, BOOLS, SIGNED, UNSIGNED, FLOATS, ...)                                         \
    {#NAME, COMBINE_##NAME,                                                                        \
     TYPES_IF_##BOOLS(DTYPE_BIT(BOOL)) | TYPES_IF_##SIGNED(DTYPES_SIGNED) |                        \
         TYPES_IF_##UNSIGNED(DTYPES_UNSIGNED) | TYPES_IF_##FLOATS(DTYPES_FLOATS)},
    COMBINE_TABLE(ROW, )
#undef ROW
};

static const struct {
    const char *prefix, *like;
    enum plan_kind kind;
} families[] = {
    {"sparse_segment_", "sparse_segment_sum", PLAN_SEGMENT},
    {"segment_", "segment_sum", PLAN_SEGMENT},
    {"unsorted_segment_", "unsorted_segment_sum", PLAN_SCATTER},
};

enum {
    COMBINES = sizeof combines / sizeof combines[0],
    ROWS = COMBINES * (sizeof families / sizeof families[0])
};

static dtype_set sound_types(enum plan_kind kind, enum combine combine, dtype_set dtypes)
{
    dtype_set sound = 0;
    bool from_first = kind == PLAN_SCATTER && combine_starts_from_first(combine);
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++) {
        struct kernel_key key = {kind, combine, (enum dtype)d, FINISH_NONE, from_first};
        if (dtypes >> d & 1 && kernel_key_is_sound(&key))
            sound |= 1u << d;
    }
    return sound;
}

static void make_row(int i, struct op *row)
{
    static char names[ROWS][48];
    int family = i / COMBINES, combine = i % COMBINES;
    enum plan_kind kind = families[family].kind;
    struct op_name like = {0};
    (void)op_find(families[family].like, strlen(families[family].like), &like);
    snprintf(names[i], sizeof names[i], "%s%s", families[family].prefix, combines[combine].name);
    for (char *c = names[i]; *c; c++)
        *c = (char)tolower(*c);
    *row = *like.op;
    row->name = names[i];
    row->combine = combines[combine].combine;
    row->dtypes = sound_types(kind, row->combine, combines[combine].dtypes);
    row->empty = kind == PLAN_SCATTER ? EMPTY_OF_COMBINE : EMPTY_ZEROS;
}

bool segment_row_next(int *i, struct op *row)
{
    struct op_name known;
    while (*i < ROWS) {
        make_row((*i)++, row);
        if (row->dtypes && !op_find(row->name, strlen(row->name), &known))
            return true;
    }
    return false;
}
