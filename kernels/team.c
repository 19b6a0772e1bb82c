#include "kernels/team.h"

#include <omp.h>

/* A region for one thread would still cost system calls. The team may be smaller than asked for. */
void team_run(int parts, team_part *part, void *work)
{
    if (parts == 1) {
        part(work, 0);
        return;
    }
#pragma omp parallel num_threads(parts)
    for (int i = omp_get_thread_num(); i < parts; i += omp_get_num_threads())
        part(work, i);
}
