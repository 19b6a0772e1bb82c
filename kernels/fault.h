/* fault: the sentences and details of errors that name an element. Shared by all backends, so that
 * the same mistake reads the same on every device. */
#ifndef KERNELS_FAULT_H
#define KERNELS_FAULT_H

#include "kernels/plan.h"

/* INDEX_OUT_OF_BOUNDS. Row `first` is the first bad one and the indices from it on are as the
 * client sent them: counts the bad rows and describes up to ERROR_FAULTS_MAX of them. */
enum error_code fault_index(const struct plan *plan, int64_t first, struct error *error);

/* SEGMENT_IDS_NOT_SORTED: id k is below id k - 1. */
enum error_code fault_unsorted(const struct plan *plan, int64_t k, struct error *error);

/* SEGMENT_ID_OUT_OF_RANGE: id k is negative or not below the number of segments. */
enum error_code fault_segment(const struct plan *plan, int64_t k, struct error *error);

/* DIVISION_BY_ZERO: row k of the updates holds a zero. */
enum error_code fault_division(const struct plan *plan, int64_t k, struct error *error);

/* CANCELLED: plan->options.stop turned true. */
enum error_code fault_cancelled(struct error *error);

#endif
