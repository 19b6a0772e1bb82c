#include "kernels/op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define NUMBERS (DTYPES_REAL | DTYPES_COMPLEX)

/* The documents' tables, written out again: what clients rely on. A row that is added needs none
 * here; what must hold for every row is tested for every row. */
static const struct expected {
    const char *name, *inputs, *aliases;
    dtype_set dtypes;
    enum start start;
    enum combine combine;
    enum finish finish;
} rows[] = {
    {"tensor_scatter_add", "tensor indices updates",
     "TensorScatterAdd tensor_scatter_nd_add TensorScatterNdAdd", NUMBERS, START_COPY, COMBINE_ADD,
     FINISH_NONE},
    {"tensor_scatter_sub", "tensor indices updates",
     "TensorScatterSub tensor_scatter_nd_sub TensorScatterNdSub", NUMBERS, START_COPY, COMBINE_SUB,
     FINISH_NONE},
    {"tensor_scatter_update", "tensor indices updates",
     "TensorScatterUpdate tensor_scatter_nd_update TensorScatterNdUpdate", DTYPES_ALL, START_COPY,
     COMBINE_SET, FINISH_NONE},
    {"tensor_scatter_mul", "tensor indices updates", "TensorScatterMul", DTYPES_REAL, START_COPY,
     COMBINE_MUL, FINISH_NONE},
    {"tensor_scatter_div", "tensor indices updates", "TensorScatterDiv", DTYPES_REAL, START_COPY,
     COMBINE_DIV, FINISH_NONE},
    {"tensor_scatter_min", "tensor indices updates", "TensorScatterMin tensor_scatter_nd_min",
     DTYPES_REAL, START_COPY, COMBINE_MIN, FINISH_NONE},
    {"tensor_scatter_max", "tensor indices updates", "TensorScatterMax tensor_scatter_nd_max",
     DTYPES_REAL, START_COPY, COMBINE_MAX, FINISH_NONE},
    {"scatter_nd", "indices updates shape", "ScatterNd", DTYPES_ALL, START_EMPTY, COMBINE_ADD,
     FINISH_NONE},
    {"gather_nd", "params indices", "GatherNd", DTYPES_ALL, START_EMPTY, COMBINE_SET, FINISH_NONE},
    {"sparse_segment_sum", "data indices segment_ids num_segments",
     "SparseSegmentSum sparse_segment_sum_with_num_segments SparseSegmentSumWithNumSegments",
     DTYPES_REAL, START_EMPTY, COMBINE_ADD, FINISH_NONE},
    {"sparse_segment_mean", "data indices segment_ids num_segments",
     "SparseSegmentMean sparse_segment_mean_with_num_segments SparseSegmentMeanWithNumSegments",
     DTYPES_FLOATS, START_EMPTY, COMBINE_ADD, FINISH_MEAN},
    {"sparse_segment_sqrt_n", "data indices segment_ids num_segments",
     "SparseSegmentSqrtN sparse_segment_sqrt_n_with_num_segments SparseSegmentSqrtNWithNumSegments",
     DTYPES_FLOATS, START_EMPTY, COMBINE_ADD, FINISH_SQRT_N},
    {"gather", "params indices", "Gather GatherV2", DTYPES_ALL, START_EMPTY, COMBINE_SET,
     FINISH_NONE},
    {"unsorted_segment_sum", "data segment_ids num_segments", "UnsortedSegmentSum", NUMBERS,
     START_EMPTY, COMBINE_ADD, FINISH_NONE},
    {"unsorted_segment_prod", "data segment_ids num_segments", "UnsortedSegmentProd", DTYPES_REAL,
     START_EMPTY, COMBINE_MUL, FINISH_NONE},
    {"unsorted_segment_min", "data segment_ids num_segments", "UnsortedSegmentMin", DTYPES_REAL,
     START_EMPTY, COMBINE_MIN, FINISH_NONE},
    {"unsorted_segment_max", "data segment_ids num_segments", "UnsortedSegmentMax", DTYPES_REAL,
     START_EMPTY, COMBINE_MAX, FINISH_NONE},
    {"unsorted_segment_mean", "data segment_ids num_segments", "UnsortedSegmentMean", DTYPES_FLOATS,
     START_EMPTY, COMBINE_ADD, FINISH_MEAN},
    {"unsorted_segment_sqrt_n", "data segment_ids num_segments", "UnsortedSegmentSqrtN",
     DTYPES_FLOATS, START_EMPTY, COMBINE_ADD, FINISH_SQRT_N},
    {"segment_sum", "data segment_ids", "SegmentSum", NUMBERS, START_EMPTY, COMBINE_ADD,
     FINISH_NONE},
    {"segment_prod", "data segment_ids", "SegmentProd", DTYPES_REAL, START_EMPTY, COMBINE_MUL,
     FINISH_NONE},
    {"segment_min", "data segment_ids", "SegmentMin", DTYPES_REAL, START_EMPTY, COMBINE_MIN,
     FINISH_NONE},
    {"segment_max", "data segment_ids", "SegmentMax", DTYPES_REAL, START_EMPTY, COMBINE_MAX,
     FINISH_NONE},
    {"segment_mean", "data segment_ids", "SegmentMean", DTYPES_FLOATS, START_EMPTY, COMBINE_ADD,
     FINISH_MEAN},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static const struct op *row_of(int i)
{
    struct op_name found = {0};
    assert_true(op_find(rows[i].name, strlen(rows[i].name), &found));
    return found.op;
}

#define FOR_EACH_WORD(word, size, words)                                                           \
    for (const char *word = (words); *word; word += strspn(word, " "))                             \
        for (size_t size = strcspn(word, " "), once = 1; once; once = 0, word += size)

static void rows_are_the_documents(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const struct op *op = row_of(i);
        assert_string_equal(op->name, rows[i].name);
        assert_string_equal(op->names[0].text, rows[i].name);
        assert_int_equal(op->dtypes, rows[i].dtypes);
        assert_int_equal(op->start, rows[i].start);
        assert_int_equal(op->combine, rows[i].combine);
        assert_int_equal(op->finish, rows[i].finish);
        int n = 0;
        FOR_EACH_WORD(word, size, rows[i].inputs)
        assert_int_equal(op_input(op, word, size), n++);
        assert_int_equal(op_inputs(op), n);
    }
}

static void every_name_finds_its_row(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        int names = 1;
        struct op_name found;
        assert_true(op_find(rows[i].name, strlen(rows[i].name), &found));
        assert_ptr_equal(found.op, row_of(i));
        FOR_EACH_WORD(word, size, rows[i].aliases)
        {
            assert_true(op_find(word, size, &found));
            assert_ptr_equal(found.op, row_of(i));
            assert_int_equal(strlen(found.name), size);
            assert_memory_equal(found.name, word, size);
            names++;
        }
        for (int n = 0; n <= OP_NAMES_MAX; n++)
            assert_int_equal(row_of(i)->names[n].text != NULL, n < names);
    }
}

static void num_segments_is_required_where_the_name_says_so(void **state)
{
    (void)state;
    struct op_name found;
    assert_true(op_find("sparse_segment_sum", 18, &found));
    assert_int_equal(found.required, 3);
    assert_true(op_find("SparseSegmentMeanWithNumSegments", 32, &found));
    assert_int_equal(found.required, 4);
    assert_string_equal(found.name, "SparseSegmentMeanWithNumSegments");
    assert_true(op_find("gather_nd", 9, &found));
    assert_int_equal(found.required, 2);
    assert_true(op_find("ScatterNd", 9, &found));
    assert_int_equal(found.required, 3);
}

static void other_names_find_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"",
                                        "scatter",
                                        "scatter_nd_",
                                        "SCATTER_ND",
                                        "ScatterND",
                                        "scatter_n",
                                        "gather_",
                                        "TensorScatter",
                                        "TensorScatterNdMul",
                                        "sparse_segment_sum_with_num_segment"};
    struct op_name found;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_false(op_find(names[i], strlen(names[i]), &found));
}

static void name_needs_no_terminator(void **state)
{
    (void)state;
    struct op_name found;
    assert_true(op_find("gather_nd/infer", 9, &found));
    assert_false(op_find("gather_nd/infer", 10, &found));
    assert_false(op_find("gather_nd\0", 10, &found));
}

static void first_tensor_has_aliases(void **state)
{
    (void)state;
    static const char *const aliases[] = {"input_x", "x", "input"};
    for (int i = 0; i < ROWS; i++)
        for (int a = 0; a < 3; a++) {
            bool has_tensor = strcmp(rows[i].name, "scatter_nd") != 0;
            assert_int_equal(op_input(row_of(i), aliases[a], strlen(aliases[a])),
                             has_tensor ? 0 : -1);
        }
    assert_int_equal(op_input(op_at(0), "data", 4), -1);
    assert_int_equal(op_input(op_at(0), "", 0), -1);
}

static void value_inputs_and_integer_inputs(void **state)
{
    (void)state;
    for (int i = 0; i < op_count(); i++) {
        const struct op *op = op_at(i);
        for (int n = 0; n < op_inputs(op); n++) {
            const char *name = op->inputs[n];
            bool holds_values = !strcmp(name, "tensor") || !strcmp(name, "updates") ||
                                !strcmp(name, "params") || !strcmp(name, "data");
            assert_int_equal(op_input_dtypes(op, n), holds_values ? op->dtypes : DTYPES_INDEX);
        }
        assert_int_equal(op_value_input(op), strcmp(op->name, "scatter_nd") ? 0 : 1);
    }
}

/* An alias belongs to one row, and a row has its own name first. */
static void no_name_is_given_twice(void **state)
{
    (void)state;
    for (int i = 0; i < op_count(); i++) {
        assert_string_equal(op_at(i)->names[0].text, op_at(i)->name);
        for (const struct op_alias *a = op_at(i)->names; a->text; a++) {
            struct op_name found;
            assert_int_equal(a->size, strlen(a->text));
            assert_true(op_find(a->text, strlen(a->text), &found));
            assert_ptr_equal(found.op, op_at(i));
            assert_ptr_equal(found.name, a->text);
        }
    }
}

static void every_input_has_ranks(void **state)
{
    (void)state;
    for (int i = 0; i < op_count(); i++)
        for (int j = 0; j < op_inputs(op_at(i)); j++) {
            struct op_ranks ranks = op_at(i)->ranks[j];
            assert_in_range(ranks.most, 1, RANK_MAX);
            assert_in_range(ranks.least, 0, ranks.most);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_documents),
        cmocka_unit_test(every_name_finds_its_row),
        cmocka_unit_test(num_segments_is_required_where_the_name_says_so),
        cmocka_unit_test(other_names_find_nothing),
        cmocka_unit_test(name_needs_no_terminator),
        cmocka_unit_test(first_tensor_has_aliases),
        cmocka_unit_test(value_inputs_and_integer_inputs),
        cmocka_unit_test(no_name_is_given_twice),
        cmocka_unit_test(every_input_has_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
