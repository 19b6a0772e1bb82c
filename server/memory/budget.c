#include "server/memory/budget.h"

#include "server/base/cgroup.h"

#include <assert.h>
#include <stdint.h>
#include <unistd.h>

enum { KEPT_PART = 16 };

void budget_init(struct budget *budget, size_t limit)
{
    budget->limit = limit;
    budget->kept = limit / KEPT_PART;
    atomic_init(&budget->used, 0);
}

static size_t limit_for(const struct budget *budget, bool small)
{
    return small ? budget->limit : budget->limit - budget->kept;
}

bool budget_fits(const struct budget *budget, size_t bytes, bool small)
{
    return bytes <= limit_for(budget, small);
}

bool budget_has_room(const struct budget *budget, size_t bytes)
{
    size_t used = budget_used(budget);
    return used <= budget->limit && bytes <= budget->limit - used;
}

bool budget_reserve(struct budget *budget, size_t bytes, bool small)
{
    size_t limit = limit_for(budget, small);
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    do {
        if (used > limit || bytes > limit - used)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

void budget_give_back(struct budget *budget, size_t bytes)
{
    size_t before = atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
    assert(before >= bytes);
}

size_t budget_used(const struct budget *budget)
{
    return atomic_load_explicit(&budget->used, memory_order_relaxed);
}

size_t budget_of_machine(void)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t group = cgroup_memory("");
    return (size_t)((group > 0 && group < machine ? group : machine) / 2);
}
