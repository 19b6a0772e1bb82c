#include "kernels/team.h"

#include <omp.h>
#include <stdatomic.h>

static _Thread_local int made; /* size of the calling thread's team; 0: none was made */

/* OpenMP's regions always use the full team; threads beyond `threads` return at once. */
static int team_size(int threads)
{
    return threads > made ? threads : made;
}

void team_make(int size)
{
    made = size;
#pragma omp parallel num_threads(size)
    {
        __asm__ volatile("" ::: "memory"); /* the region is not empty to the compiler */
    }
}

/* A region for one thread would still cost system calls. The team may be smaller than asked for. */
void team_run(int parts, team_part *part, void *work)
{
    if (parts == 1) {
        part(work, 0);
        return;
    }
#pragma omp parallel num_threads(team_size(parts))
    for (int i = omp_get_thread_num(); i < parts; i += omp_get_num_threads())
        part(work, i);
}

static void take_parts(atomic_int *next, int parts, team_part *part, void *work)
{
    for (int i = atomic_fetch_add(next, 1); i < parts; i = atomic_fetch_add(next, 1))
        part(work, i);
}

void team_share(int threads, int parts, team_part *part, void *work)
{
    atomic_int next = 0;
    if (threads == 1 || parts == 1) {
        take_parts(&next, parts, part, work);
        return;
    }
#pragma omp parallel num_threads(team_size(threads))
    if (omp_get_thread_num() < threads)
        take_parts(&next, parts, part, work);
}
