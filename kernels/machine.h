/* machine: facts about the processor that decide how a plan runs on it: how many threads share the
 * work and how they cut it, and past which caches a result is written. Whoever makes plans hands
 * them in (plan_options.machine); a test hands in others and so forces each choice. The bits of a
 * result do not depend on them. */
#ifndef KERNELS_MACHINE_H
#define KERNELS_MACHINE_H

#include <stddef.h>

struct machine {
    size_t second_level_bytes; /* the cache of one core */
    size_t third_level_bytes;  /* the cache that the cores share */
    double line_ns;            /* a cache line from the third level, prefetched */
    double team_ns;            /* gathering a team that sleeps */
};

/* The machine of plans that were given none: fixed values, no system is asked. */
extern const struct machine machine_typical;

/* The caches as the system tells them; typical values for what it does not tell or what is
 * measured. */
void machine_read(struct machine *machine);

/* Measures line_ns and team_ns in some 10 milliseconds, with a team of `threads` that the calling
 * thread has made. What cannot be measured (no memory; one thread) stays. */
void machine_measure(struct machine *machine, int threads);

#endif
