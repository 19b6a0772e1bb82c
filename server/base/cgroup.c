#include "server/base/cgroup.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_MAX = 1024 };

/* Version 2 has one hierarchy of groups for all controllers, version 1 one for each. */
struct hierarchy {
    const char *type;       /* of its file system */
    const char *controller; /* "" in version 2 */
};

static const struct hierarchy unified = {"cgroup2", ""};

/* The process's group in a hierarchy. Only the group `top` and the groups below it are visible, as
 * folders below `mount`: in a container often its own group alone. */
struct place {
    char group[PLACE_MAX], top[PLACE_MAX], mount[PLACE_MAX];
};

typedef bool take_line(char *line, const struct hierarchy *hierarchy, struct place *place);

static FILE *open_in(const char *folder, const char *file)
{
    char path[3 * PLACE_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, file);
    return length < (int)sizeof path ? fopen(path, "re") : NULL;
}

/* Whether `name` is one of the comma-separated names in `list`. */
static bool holds(const char *list, const char *name)
{
    size_t size = strlen(name);
    while (strncmp(list, name, size) != 0 || (list[size] != ',' && list[size] != '\0')) {
        list = strchr(list, ',');
        if (!list++)
            return false;
    }
    return true;
}

/* Gives the lines of a file to `take`, until it accepts one. */
static bool find_line(const char *root, const char *file, take_line *take,
                      const struct hierarchy *hierarchy, struct place *place)
{
    char *line = NULL;
    size_t size = 0;
    bool is_found = false;
    FILE *f = open_in(root, file);
    while (f && !is_found && getline(&line, &size, f) > 0)
        is_found = take(line, hierarchy, place);
    if (f)
        fclose(f);
    free(line);
    return is_found;
}

/* 5:cpu,cpuacct:/the/group
 * 0::/the/group */
static bool take_group(char *line, const struct hierarchy *hierarchy, struct place *place)
{
    char *list = strchr(line, ':');
    char *path = list ? strchr(list + 1, ':') : NULL;
    if (!path)
        return false;
    *path = '\0';
    return holds(list + 1, hierarchy->controller) &&
           sscanf(path + 1, "%1023[^\n]", place->group) == 1;
}

/* 33 31 0:30 /top /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct */
static bool take_mount(char *line, const struct hierarchy *hierarchy, struct place *place)
{
    char type[16], options[256];
    const char *tail = strstr(line, " - ");
    return tail && sscanf(tail, " - %15s %*s %255s", type, options) == 2 &&
           strcmp(type, hierarchy->type) == 0 &&
           (!*hierarchy->controller || holds(options, hierarchy->controller)) &&
           sscanf(line, "%*s %*s %*s %1023s %1023s", place->top, place->mount) == 2;
}

/* The part of the process's path below the group that is mounted; "" where it is not below it. */
static const char *below_top(const struct place *place)
{
    size_t size = strcmp(place->top, "/") == 0 ? 0 : strlen(place->top);
    const char *rest = place->group + size;
    bool is_below = strncmp(place->group, place->top, size) == 0 && *rest == '/' && rest[1];
    return is_below ? rest : "";
}

static void keep_least(uint64_t *least, uint64_t value)
{
    if (value > 0 && (*least == 0 || value < *least))
        *least = value;
}

/* The least of what `read` finds in the folders of the process's group and of those above it; 0
 * stands for no limit. */
static uint64_t least_limit(const char *root, const struct hierarchy *hierarchy,
                            uint64_t (*read)(const char *folder))
{
    struct place place;
    char folder[3 * PLACE_MAX];
    uint64_t least = 0;
    if (!find_line(root, "proc/self/cgroup", take_group, hierarchy, &place) ||
        !find_line(root, "proc/self/mountinfo", take_mount, hierarchy, &place))
        return 0;
    int top = snprintf(folder, sizeof folder, "%s%s", root, place.mount);
    snprintf(folder + top, sizeof folder - (size_t)top, "%s", below_top(&place));
    for (char *end = folder + strlen(folder); end; end = strrchr(folder + top, '/')) {
        *end = '\0';
        keep_least(&least, read(folder));
    }
    return least;
}

/* The number in a file; 0 when it holds none: `max` and -1 mean that there is no limit. */
static uint64_t read_number(const char *folder, const char *file)
{
    int64_t value = 0;
    FILE *f = open_in(folder, file);
    if (!f)
        return 0;
    if (fscanf(f, "%" SCNd64, &value) != 1 || value < 0)
        value = 0;
    fclose(f);
    return (uint64_t)value;
}

static uint64_t whole_cpus(uint64_t quota, uint64_t period)
{
    return period > 0 ? quota / period + (quota % period > 0) : 0;
}

static uint64_t memory_v2(const char *folder)
{
    return read_number(folder, "memory.max");
}

static uint64_t memory_v1(const char *folder)
{
    return read_number(folder, "memory.limit_in_bytes");
}

static uint64_t cpus_v2(const char *folder)
{
    uint64_t quota = 0, period = 0;
    FILE *f = open_in(folder, "cpu.max");
    if (!f)
        return 0;
    if (fscanf(f, "%" SCNu64 " %" SCNu64, &quota, &period) != 2)
        period = 0;
    fclose(f);
    return whole_cpus(quota, period);
}

static uint64_t cpus_v1(const char *folder)
{
    return whole_cpus(read_number(folder, "cpu.cfs_quota_us"),
                      read_number(folder, "cpu.cfs_period_us"));
}

uint64_t cgroup_memory(const char *root)
{
    uint64_t least = least_limit(root, &unified, memory_v2);
    keep_least(&least, least_limit(root, &(struct hierarchy){"cgroup", "memory"}, memory_v1));
    return least;
}

int cgroup_cpus(const char *root)
{
    uint64_t least = least_limit(root, &unified, cpus_v2);
    keep_least(&least, least_limit(root, &(struct hierarchy){"cgroup", "cpu"}, cpus_v1));
    return least < INT32_MAX ? (int)least : INT32_MAX;
}
