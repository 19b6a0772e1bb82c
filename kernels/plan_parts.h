/* plan_parts: the plan functions of the op table, and what they share. Private to kernels/plan*.c
 * and op.c. */
#ifndef KERNELS_PLAN_PARTS_H
#define KERNELS_PLAN_PARTS_H

#include "kernels/plan.h"

/* Each plan function checks ranks and shapes of plan->inputs (present and of the right types
 * already), and fills kind, rows, start, values, indices, table and the output's shape. Input
 * numbers are those of the op's row. */
enum error_code plan_tensor_scatter(struct plan *plan, struct error *error);
enum error_code plan_scatter_nd(struct plan *plan, struct error *error);
enum error_code plan_gather_nd(struct plan *plan, struct error *error);
enum error_code plan_gather(struct plan *plan, struct error *error);
enum error_code plan_sparse_segment(struct plan *plan, struct error *error);
enum error_code plan_segment(struct plan *plan, struct error *error);
enum error_code plan_unsorted_segment(struct plan *plan, struct error *error);

/* SHAPE_MISMATCH when a rank is above RANK_MAX. */
MUST_CHECK enum error_code plan_check_rank(int rank, const char *name, struct error *error);

/* SHAPE_MISMATCH when the last dimension of indices, of rank 1 or more, is not `least` to `rank`,
 * that of the tensor `table` which they address. */
MUST_CHECK enum error_code plan_check_depth(const struct tensor *indices, int least, int rank,
                                            const char *table, struct error *error);

/* SIZE_MISMATCH when the bytes of an input exceed what 64 bits count. */
MUST_CHECK enum error_code plan_check_input_sizes(const struct plan *plan, struct error *error);

/* Element i of an INT32 or INT64 tensor. */
int64_t plan_integer(const struct tensor *t, int64_t i);

/* Product of dimensions; INT64_MAX when it is more. A product that matters is also a size, and the
 * sizes are checked before anything reads this one. */
int64_t plan_product(const int64_t *shape, int from, int to);

/* Fills the sizes of the plan's scratch, when all but touched_bytes is known. */
void plan_size_scratch(struct plan *plan);

/* Fills what the plan says about indices: input number `indices`, whose last dimension, a tuple,
 * addresses the first dimensions of `table`; or, without `tuples`, each of them its rows. */
void plan_address_rows(struct plan *plan, int indices, bool tuples, const struct tensor *table,
                       const char *table_name);

#endif
