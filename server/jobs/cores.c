#include "server/jobs/cores.h"

#include "server/base/cgroup.h"

#include <sched.h>

void cores_init(struct cores *cores, int count)
{
    cores->count = count;
    atomic_init(&cores->free, count);
}

int cores_take(struct cores *cores, int wanted)
{
    int free = atomic_load_explicit(&cores->free, memory_order_relaxed);
    int granted;
    do {
        granted = free < wanted ? free : wanted;
        if (granted < 1)
            granted = 1;
    } while (!atomic_compare_exchange_weak_explicit(&cores->free, &free, free - granted,
                                                    memory_order_relaxed, memory_order_relaxed));
    return granted;
}

void cores_give_back(struct cores *cores, int granted)
{
    atomic_fetch_add_explicit(&cores->free, granted, memory_order_relaxed);
}

int cores_of_machine(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    int quota = cgroup_cpus("");
    if (quota > 0 && quota < count)
        count = quota;
    return count > 0 ? count : 1;
}
