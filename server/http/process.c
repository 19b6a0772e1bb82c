#include "server/http/process.h"

#include "server/base/clock.h"
#include "server/base/units.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static uint64_t count_files(void)
{
    uint64_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count > 3 ? count - 3 : 0; /* not ".", "..", and the one that was opened to count */
}

static uint64_t resident(void)
{
    uint64_t size, pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f)
        return 0;
    if (fscanf(f, "%" SCNu64 " %" SCNu64, &size, &pages) != 2)
        pages = 0;
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Field 22 of stat counts clock ticks from the boot to the start of the process. */
double process_start(void)
{
    char line[1024];
    unsigned long long ticks = 0;
    FILE *f = fopen("/proc/self/stat", "re");
    if (!f)
        return 0;
    const char *rest = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    fclose(f);
    for (int field = 2; rest && field < 22; field++)
        rest = strchr(rest + 1, ' ');
    if (!rest || sscanf(rest, "%llu", &ticks) != 1)
        return 0;
    double boot = (double)(clock_wall_ns() - clock_ns()) / (double)SEC;
    return boot + (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

void process_look(struct process *process)
{
    struct rusage usage;
    struct rlimit files;
    getrusage(RUSAGE_SELF, &usage);
    getrlimit(RLIMIT_NOFILE, &files);
    *process = (struct process){.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime),
                                .resident_bytes = resident(),
                                .open_files = count_files(),
                                .most_files = files.rlim_cur};
}
