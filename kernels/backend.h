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

    /* How many devices there are; 0: this backend cannot run here. */
    int (*devices)(void);

    /* Memory of a device that is free now; 0 for the CPU, which has none of its own. */
    size_t (*available)(int device);

    /* Makes host memory pinned, for all lanes of all devices: what lies there is copied faster.
     * False where that cannot be done; it need not be. */
    bool (*pin)(void *data, size_t bytes);
    void (*unpin)(void *data);

    /* Opens a lane on a device, numbered from 0, that may take `memory_bytes` of its memory (the
     * CPU's has none of its own), or returns NULL and says why. The caller closes it. Errors:
     * RESOURCE_EXHAUSTED INTERNAL. */
    struct lane *(*open)(int device, size_t memory_bytes, struct error *error);

    /* Whether there is a kernel for such plans, where can_run lets them come here. An operation of
     * which one is missing must not be served. */
    bool (*has_kernel)(const struct kernel_key *key);

    /* Whether this backend can run the plan (BYTES stay on the CPU). */
    bool (*can_run)(const struct plan *plan);

    /* Memory of a lane's own that the plan takes; SIZE_MAX: too much to count. */
    size_t (*memory)(const struct plan *plan);

    /* Checks every element that can be wrong, then computes plan->output. On an error nothing of
     * the output was written (with CANCELLED or INTERNAL it is undefined and must be dropped).
     * Errors: INDEX_OUT_OF_BOUNDS SEGMENT_IDS_NOT_SORTED SEGMENT_ID_OUT_OF_RANGE DIVISION_BY_ZERO
     * OUTPUT_TOO_LARGE CANCELLED RESOURCE_EXHAUSTED INTERNAL. */
    enum error_code (*run)(struct lane *lane, struct plan *plan, struct error *error);

    /* Whether the lane failed in a way that nothing can mend while this process lives; the other
     * lanes of its device will find the same. */
    bool (*is_broken)(const struct lane *lane);

    void (*close)(struct lane *lane);
};

extern const struct backend backend_cpu;

/* The CUDA backend, or NULL where the program was built without it. */
const struct backend *backend_cuda(void);

#endif
