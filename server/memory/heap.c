#include "server/memory/heap.h"

#include "server/base/units.h"

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#define WORTH_BYTES ((int64_t)(4 * MIB))
#define GAIN_BYTES  ((int64_t)MIB)
#define TOP_BYTES   ((int)MIB)

/* Unset, glibc raises the bound to twice the largest block that was ever freed. */
void heap_keep_little(void)
{
    mallopt(M_TRIM_THRESHOLD, TOP_BYTES);
}

/* Resident bytes that no file stands behind; 0 where /proc is not there. */
static int64_t resident(void)
{
    long resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*u %ld %ld", &resident, &shared) != 2)
        resident = shared = 0;
    fclose(file);
    return (int64_t)(resident - shared) * sysconf(_SC_PAGESIZE);
}

/* Threads' stacks count as well: they hardly change. */
static int64_t slack(void)
{
    struct mallinfo2 info = mallinfo2();
    return resident() - (int64_t)(info.uordblks + info.hblkhd);
}

bool heap_is_slack(struct heap *heap)
{
    int64_t now = slack();
    if (now < heap->kept_bytes)
        heap->kept_bytes = now;
    return now > heap->kept_bytes + WORTH_BYTES;
}

/* Memory that other threads free meanwhile stays resident and is left to the next trim: the gain is
 * measured on the resident set alone. */
void heap_trim(struct heap *heap)
{
    int64_t before = resident(), slack_before = slack();
    malloc_trim(0);
    if (resident() > before - GAIN_BYTES)
        heap->kept_bytes = slack_before;
}
