#include "kernels/op.h"
#include "kernels/plan_parts.h"

#include <string.h>

#define NUMBERS (DTYPES_REAL | DTYPES_COMPLEX)

#define NAME(text, required)                                                                       \
    {                                                                                              \
        text, sizeof(text) - 1, required                                                           \
    }

/* The inputs of a family of rows, and which of them hold values. */
#define TENSOR_SCATTER                                                                             \
    .inputs = {"tensor", "indices", "updates"},                                                    \
    .ranks = {{1, RANK_MAX}, {2, RANK_MAX}, {1, RANK_MAX}}, .required = 3,                         \
    .values = 1u << 0 | 1u << 2, .start = START_COPY, .plan = plan_tensor_scatter
#define SPARSE_SEGMENT(snake, camel)                                                               \
    .name = snake,                                                                                 \
    .names = {NAME(snake, 3), NAME(camel, 3), NAME(snake "_with_num_segments", 4),                 \
              NAME(camel "WithNumSegments", 4)},                                                   \
    .inputs = {"data", "indices", "segment_ids", "num_segments"},                                  \
    .ranks = {{1, RANK_MAX}, {1, 1}, {1, 1}, {0, 1}}, .required = 3, .values = 1u << 0,            \
    .start = START_EMPTY, .plan = plan_sparse_segment

#define SEGMENT(snake, camel)                                                                      \
    .name = snake, .names = {NAME(snake, 2), NAME(camel, 2)}, .inputs = {"data", "segment_ids"},   \
    .ranks = {{1, RANK_MAX}, {1, 1}}, .required = 2, .values = 1u << 0, .start = START_EMPTY,      \
    .plan = plan_segment
#define UNSORTED_SEGMENT(snake, camel)                                                             \
    .name = snake, .names = {NAME(snake, 3), NAME(camel, 3)},                                      \
    .inputs = {"data", "segment_ids", "num_segments"},                                             \
    .ranks = {{0, RANK_MAX}, {0, RANK_MAX}, {0, 1}}, .required = 3, .values = 1u << 0,             \
    .start = START_EMPTY, .plan = plan_unsorted_segment

static const struct op table[] = {
    {.name = "tensor_scatter_add",
     .names = {NAME("tensor_scatter_add", 3), NAME("TensorScatterAdd", 3),
               NAME("tensor_scatter_nd_add", 3), NAME("TensorScatterNdAdd", 3)},
     .dtypes = NUMBERS,
     .combine = COMBINE_ADD,
     TENSOR_SCATTER},
    {.name = "tensor_scatter_sub",
     .names = {NAME("tensor_scatter_sub", 3), NAME("TensorScatterSub", 3),
               NAME("tensor_scatter_nd_sub", 3), NAME("TensorScatterNdSub", 3)},
     .dtypes = NUMBERS,
     .combine = COMBINE_SUB,
     TENSOR_SCATTER},
    {.name = "tensor_scatter_update",
     .names = {NAME("tensor_scatter_update", 3), NAME("TensorScatterUpdate", 3),
               NAME("tensor_scatter_nd_update", 3), NAME("TensorScatterNdUpdate", 3)},
     .dtypes = DTYPES_ALL,
     .combine = COMBINE_SET,
     TENSOR_SCATTER},
    {.name = "tensor_scatter_mul",
     .names = {NAME("tensor_scatter_mul", 3), NAME("TensorScatterMul", 3)},
     .dtypes = DTYPES_REAL,
     .combine = COMBINE_MUL,
     TENSOR_SCATTER},
    {.name = "tensor_scatter_div",
     .names = {NAME("tensor_scatter_div", 3), NAME("TensorScatterDiv", 3)},
     .dtypes = DTYPES_REAL,
     .combine = COMBINE_DIV,
     TENSOR_SCATTER},
    {.name = "tensor_scatter_min",
     .names = {NAME("tensor_scatter_min", 3), NAME("TensorScatterMin", 3),
               NAME("tensor_scatter_nd_min", 3)},
     .dtypes = DTYPES_REAL,
     .combine = COMBINE_MIN,
     TENSOR_SCATTER},
    {.name = "tensor_scatter_max",
     .names = {NAME("tensor_scatter_max", 3), NAME("TensorScatterMax", 3),
               NAME("tensor_scatter_nd_max", 3)},
     .dtypes = DTYPES_REAL,
     .combine = COMBINE_MAX,
     TENSOR_SCATTER},
    {.name = "scatter_nd",
     .names = {NAME("scatter_nd", 3), NAME("ScatterNd", 3)},
     .inputs = {"indices", "updates", "shape"},
     .ranks = {{2, RANK_MAX}, {1, RANK_MAX}, {1, 1}},
     .required = 3,
     .values = 1u << 1,
     .dtypes = DTYPES_ALL,
     .start = START_EMPTY,
     .combine = COMBINE_ADD,
     .plan = plan_scatter_nd},
    {.name = "gather_nd",
     .names = {NAME("gather_nd", 2), NAME("GatherNd", 2)},
     .inputs = {"params", "indices"},
     .ranks = {{0, RANK_MAX}, {1, RANK_MAX}},
     .required = 2,
     .values = 1u << 0,
     .dtypes = DTYPES_ALL,
     .start = START_EMPTY,
     .combine = COMBINE_SET,
     .plan = plan_gather_nd},
    {SPARSE_SEGMENT("sparse_segment_sum", "SparseSegmentSum"), .dtypes = DTYPES_REAL,
     .combine = COMBINE_ADD},
    {SPARSE_SEGMENT("sparse_segment_mean", "SparseSegmentMean"), .dtypes = DTYPES_FLOATS,
     .combine = COMBINE_ADD, .finish = FINISH_MEAN},
    {SPARSE_SEGMENT("sparse_segment_sqrt_n", "SparseSegmentSqrtN"), .dtypes = DTYPES_FLOATS,
     .combine = COMBINE_ADD, .finish = FINISH_SQRT_N},
    {.name = "gather",
     .names = {NAME("gather", 2), NAME("Gather", 2), NAME("GatherV2", 2)},
     .inputs = {"params", "indices"},
     .ranks = {{1, RANK_MAX}, {0, RANK_MAX}},
     .required = 2,
     .values = 1u << 0,
     .dtypes = DTYPES_ALL,
     .start = START_EMPTY,
     .combine = COMBINE_SET,
     .plan = plan_gather},
    {UNSORTED_SEGMENT("unsorted_segment_sum", "UnsortedSegmentSum"), .dtypes = NUMBERS,
     .combine = COMBINE_ADD},
    {UNSORTED_SEGMENT("unsorted_segment_prod", "UnsortedSegmentProd"), .dtypes = DTYPES_REAL,
     .combine = COMBINE_MUL, .empty = EMPTY_OF_COMBINE},
    {UNSORTED_SEGMENT("unsorted_segment_min", "UnsortedSegmentMin"), .dtypes = DTYPES_REAL,
     .combine = COMBINE_MIN, .empty = EMPTY_OF_COMBINE},
    {UNSORTED_SEGMENT("unsorted_segment_max", "UnsortedSegmentMax"), .dtypes = DTYPES_REAL,
     .combine = COMBINE_MAX, .empty = EMPTY_OF_COMBINE},
    {UNSORTED_SEGMENT("unsorted_segment_mean", "UnsortedSegmentMean"), .dtypes = DTYPES_FLOATS,
     .combine = COMBINE_ADD, .finish = FINISH_MEAN},
    {UNSORTED_SEGMENT("unsorted_segment_sqrt_n", "UnsortedSegmentSqrtN"), .dtypes = DTYPES_FLOATS,
     .combine = COMBINE_ADD, .finish = FINISH_SQRT_N},
    {SEGMENT("segment_sum", "SegmentSum"), .dtypes = NUMBERS, .combine = COMBINE_ADD},
    {SEGMENT("segment_prod", "SegmentProd"), .dtypes = DTYPES_REAL, .combine = COMBINE_MUL,
     .empty = EMPTY_OF_COMBINE},
    {SEGMENT("segment_min", "SegmentMin"), .dtypes = DTYPES_REAL, .combine = COMBINE_MIN},
    {SEGMENT("segment_max", "SegmentMax"), .dtypes = DTYPES_REAL, .combine = COMBINE_MAX},
    {SEGMENT("segment_mean", "SegmentMean"), .dtypes = DTYPES_FLOATS, .combine = COMBINE_ADD,
     .finish = FINISH_MEAN},
};

_Static_assert(sizeof table / sizeof table[0] <= OPS_MAX, "raise OPS_MAX");

int op_count(void)
{
    return (int)(sizeof table / sizeof table[0]);
}

const struct op *op_at(int i)
{
    return &table[i];
}

bool op_find(const char *name, size_t size, struct op_name *found)
{
    for (int i = 0; i < op_count(); i++)
        for (const struct op_alias *a = table[i].names; a->text; a++)
            if ((size_t)a->size == size && memcmp(a->text, name, size) == 0) {
                *found = (struct op_name){a->text, &table[i], a->required};
                return true;
            }
    return false;
}

int op_inputs(const struct op *op)
{
    int n = 0;
    while (n < OP_INPUTS_MAX && op->inputs[n])
        n++;
    return n;
}

int op_value_input(const struct op *op)
{
    return __builtin_ctz(op->values);
}

dtype_set op_input_dtypes(const struct op *op, int i)
{
    return op->values >> i & 1 ? op->dtypes : DTYPES_INDEX;
}

static bool equals(const char *known, const char *name, size_t size)
{
    return strlen(known) == size && memcmp(known, name, size) == 0;
}

const char *const *op_input_aliases(const struct op *op, int i)
{
    static const char *const first_tensor[] = {"input_x", "x", "input", NULL};
    static const char *const none[] = {NULL};
    return i == 0 && op->values & 1 ? first_tensor : none;
}

int op_input(const struct op *op, const char *name, size_t size)
{
    for (int i = 0; i < op_inputs(op); i++)
        if (equals(op->inputs[i], name, size))
            return i;
    for (const char *const *alias = op_input_aliases(op, 0); *alias; alias++)
        if (equals(*alias, name, size))
            return 0;
    return -1;
}
