/* gpus: the CUDA devices that the server uses, and which jobs go to them. Each device has workers
 * of its own, one for each of its streams. */
#ifndef SERVER_JOBS_GPUS_H
#define SERVER_JOBS_GPUS_H

#include "kernels/backend.h"
#include "server/config/config.h"
#include "server/jobs/job.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { GPUS_MAX = 16 };

struct gpus {
    const struct backend *backend; /* NULL: there is none, or none is used */
    const struct config *config;
    int count;
    struct gpu {
        int device;        /* the backend's number */
        size_t lane_bytes; /* memory that each of its streams may take */
    } list[GPUS_MAX];
    char absence[160];    /* why there are none; "" when there are */
    atomic_uint next;     /* counts the jobs that chose among several devices: they take turns */
    atomic_bool are_lost; /* a device failed for good */
};

/* Finds the devices that `device` and `cuda_devices` ask for. `backend` NULL: the program was built
 * without. Errors: INVALID_PARAMETER (no list of device numbers), INTERNAL (`device` is cuda and
 * there is none: the server must not start). */
MUST_CHECK enum error_code gpus_init(struct gpus *gpus, const struct config *config,
                                     const struct backend *backend, struct error *error);

/* Gives up all devices because of `error`, which stays an error only where `device` is cuda. */
enum error_code gpus_give_up(struct gpus *gpus, struct error *error);

/* How many devices a request may choose among; 0: there are none, or they were lost. */
int gpus_available(const struct gpus *gpus);

/* Whether jobs go to the devices unless they ask for the CPU: then it pays to pin their memory. */
bool gpus_are_preferred(const struct gpus *gpus);

/* Sets where a planned job runs, job->gpu, unless that is known: it is chosen once. */
void gpus_choose(struct gpus *gpus, struct job *job);

/* Takes note that a worker's lane is broken, so that no device is used any more; true the first
 * time. */
bool gpus_lose(struct gpus *gpus);

/* Whether devices were lost while `device` is cuda: the server cannot do what it was started
 * for. */
bool gpus_are_missed(const struct gpus *gpus);

#endif
