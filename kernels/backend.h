/* backend: where a plan runs. A lane is what one worker runs on: for the CPU the cores it was
 * granted (see plan_options.threads), for CUDA a stream with its own buffers. A lane is used by one
 * thread at a time. */
#ifndef KERNELS_BACKEND_H
#define KERNELS_BACKEND_H

#include "kernels/error.h"
#include "kernels/plan.h"

struct lane; /* the backend's own */

struct backend {
    const char *name; /* "cpu", "cuda" */

    /* Opens a lane, or returns NULL and says why. The caller closes it. */
    struct lane *(*open)(int device, struct error *error);

    /* Whether this backend can run the plan (BYTES stay on the CPU). */
    bool (*can_run)(const struct plan *plan);

    /* Checks every element that can be wrong, then computes plan->output. On an error nothing of
     * the output was written (with CANCELLED or INTERNAL it is undefined and must be dropped).
     * Errors: INDEX_OUT_OF_BOUNDS SEGMENT_IDS_NOT_SORTED SEGMENT_ID_OUT_OF_RANGE DIVISION_BY_ZERO
     * OUTPUT_TOO_LARGE CANCELLED RESOURCE_EXHAUSTED INTERNAL. */
    enum error_code (*run)(struct lane *lane, struct plan *plan, struct error *error);

    void (*close)(struct lane *lane);
};

extern const struct backend backend_cpu;

#endif
