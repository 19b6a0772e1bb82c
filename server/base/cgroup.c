#include "server/base/cgroup.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Inside a container its own group is mounted at the root; outside, its path is in
 * /proc/self/cgroup. Both places are read, and the smaller limit counts. */
static bool read_text(const char *root, const char *group, const char *file, char *text, int size)
{
    char path[768];
    snprintf(path, sizeof path, "%s%s/%s", root, group, file);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    bool ok = fgets(text, size, f) != NULL;
    fclose(f);
    return ok;
}

/* The process's path in the hierarchy of `controller` ("" for version 2), "" when unknown. */
static void find_group(const char *controller, char *group, size_t size)
{
    char line[768];
    *group = '\0';
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (!f)
        return;
    while (fgets(line, sizeof line, f)) {
        char *name = strchr(line, ':');
        char *path = name ? strchr(name + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        if (strcmp(name + 1, controller) == 0 && strcmp(path, "/") != 0)
            snprintf(group, size, "%s", path);
    }
    fclose(f);
}

static void keep_least(uint64_t *least, uint64_t value)
{
    if (value > 0 && (*least == 0 || value < *least))
        *least = value;
}

/* Reads one number ("max" and nonsense are 0) from both places. */
static uint64_t least_number(const char *root, const char *controller, const char *file)
{
    char group[512], text[128];
    uint64_t least = 0, value;
    find_group(controller, group, sizeof group);
    const char *const places[] = {"", group};
    for (int i = 0; i < 2; i++)
        if (read_text(root, places[i], file, text, sizeof text) &&
            sscanf(text, "%" SCNu64, &value) == 1)
            keep_least(&least, value);
    return least;
}

uint64_t cgroup_memory(void)
{
    uint64_t least = least_number("/sys/fs/cgroup", "", "memory.max");
    keep_least(&least, least_number("/sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes"));
    return least;
}

static uint64_t cpus_v2(const char *group)
{
    char text[128];
    uint64_t quota, period;
    if (!read_text("/sys/fs/cgroup", group, "cpu.max", text, sizeof text) ||
        sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) != 2 || period == 0)
        return 0;
    return (quota + period - 1) / period;
}

static uint64_t cpus_v1(void)
{
    const char *root = "/sys/fs/cgroup/cpu";
    uint64_t quota = least_number(root, "cpu", "cpu.cfs_quota_us");
    uint64_t period = least_number(root, "cpu", "cpu.cfs_period_us");
    /* No quota is written as -1, which reads as a huge number. */
    return period == 0 || quota > UINT32_MAX ? 0 : (quota + period - 1) / period;
}

int cgroup_cpus(void)
{
    char group[512];
    find_group("", group, sizeof group);
    uint64_t least = cpus_v2("");
    keep_least(&least, cpus_v2(group));
    keep_least(&least, cpus_v1());
    return (int)least;
}
