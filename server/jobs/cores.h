/* cores: one budget of cores for the whole process. A job takes those that are free, as many as its
 * size is worth, and always at least one: it may wait for a worker, but never for cores. */
#ifndef SERVER_JOBS_CORES_H
#define SERVER_JOBS_CORES_H

#include <stdatomic.h>

struct cores {
    int count;
    atomic_int free; /* below 0 when more jobs run than there are cores */
};

void cores_init(struct cores *cores, int count);

/* Takes up to `wanted` cores, and at least one; returns how many. The caller gives as many back. */
int cores_take(struct cores *cores, int wanted);
void cores_give_back(struct cores *cores, int granted);

/* The smaller of the CPU affinity and the cgroup's quota, at least 1. */
int cores_of_machine(void);

#endif
