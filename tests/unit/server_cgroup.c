/* cgroup: the least limit of the process's group and of all groups above it, read from files as the
 * kernel shows them, in a folder that stands for a machine. */
#include "server/base/cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define MIB UINT64_C(1048576)
#define V2  "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1                                                                                         \
    "31 23 0:28 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n"                            \
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup cgroup rw,cpu,cpuacct\n"         \
    "33 31 0:30 / /sys/fs/cgroup/cpuset rw shared:6 - cgroup cgroup rw,cpuset\n"                   \
    "35 31 0:32 / /sys/fs/cgroup/memory rw shared:7 - cgroup cgroup rw,memory\n"

static char machine[64];

/* Writes a file of that machine, with the folders on its way. */
static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", machine, path);
    for (char *slash = full + strlen(machine) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_machine(void **state)
{
    (void)state;
    strcpy(machine, "/tmp/server_cgroup.XXXXXX");
    return mkdtemp(machine) ? 0 : -1;
}

static int remove_machine(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", machine);
    return system(command);
}

static void process(const char *groups, const char *mounts)
{
    put("/proc/self/cgroup", groups);
    put("/proc/self/mountinfo", mounts);
}

static void expect(uint64_t memory, int cpus)
{
    assert_int_equal(cgroup_memory(machine), memory);
    assert_int_equal(cgroup_cpus(machine), cpus);
}

static void without_groups_there_is_no_limit(void **state)
{
    (void)state;
    expect(0, 0);
    process("0::/\n", "23 1 0:20 / / rw - ext4 /dev/vda rw\n");
    expect(0, 0);
    process("0::/user.slice\n", V2);
    expect(0, 0);
}

static void version_2_own_limit(void **state)
{
    (void)state;
    process("0::/app\n", V2);
    put("/sys/fs/cgroup/app/memory.max", "268435456\n");
    put("/sys/fs/cgroup/app/cpu.max", "150000 100000\n");
    expect(256 * MIB, 2);
}

static void version_2_limit_of_the_slice_above(void **state)
{
    (void)state;
    process("0::/web.slice/tensord.service\n", V2);
    put("/sys/fs/cgroup/web.slice/memory.max", "2147483648\n");
    put("/sys/fs/cgroup/web.slice/cpu.max", "100000 100000\n");
    put("/sys/fs/cgroup/web.slice/tensord.service/memory.max", "max\n");
    put("/sys/fs/cgroup/web.slice/tensord.service/cpu.max", "max 100000\n");
    expect(2048 * MIB, 1);
}

static void version_2_least_of_three(void **state)
{
    (void)state;
    process("0::/a/b/c\n", V2);
    put("/sys/fs/cgroup/a/memory.max", "104857600\n");
    put("/sys/fs/cgroup/a/b/memory.max", "52428800\n");
    put("/sys/fs/cgroup/a/b/c/memory.max", "209715200\n");
    /* 3, 2.5 and 4 CPUs: a quota means something beside its own period only */
    put("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "25000 10000\n");
    put("/sys/fs/cgroup/a/b/c/cpu.max", "4000000 1000000\n");
    expect(50 * MIB, 3);
}

static void version_2_in_a_container_with_its_own_namespace(void **state)
{
    (void)state;
    process("0::/\n", V2);
    put("/sys/fs/cgroup/memory.max", "104857600\n");
    put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    expect(100 * MIB, 1);
}

/* The group's path is the host's, the folder that is mounted is the container's. */
static void version_2_in_a_container_that_shares_the_namespace(void **state)
{
    (void)state;
    process("0::/docker/0123/inner\n",
            "31 23 0:28 /docker/0123 /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    put("/sys/fs/cgroup/memory.max", "104857600\n");
    put("/sys/fs/cgroup/inner/memory.max", "52428800\n");
    expect(50 * MIB, 0);
    put("/sys/fs/cgroup/inner/memory.max", "max\n");
    expect(100 * MIB, 0);
}

static void version_2_seen_from_outside_its_namespace(void **state)
{
    (void)state;
    process("0::/../other\n", V2);
    put("/sys/fs/cgroup/memory.max", "104857600\n");
    expect(100 * MIB, 0);
    process("0::/\n", "31 23 0:28 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    expect(100 * MIB, 0);
}

static void version_1_limit_of_the_slice_above(void **state)
{
    (void)state;
    process("9:cpuset:/\n7:cpu,cpuacct:/web.slice/tensord.service\n"
            "5:memory:/web.slice/tensord.service\n1:name=systemd:/x\n",
            V1);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/web.slice/memory.limit_in_bytes", "2147483648\n");
    put("/sys/fs/cgroup/memory/web.slice/tensord.service/memory.limit_in_bytes",
        "9223372036854771712\n");
    put("/sys/fs/cgroup/cpu,cpuacct/web.slice/cpu.cfs_quota_us", "100000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/web.slice/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/web.slice/tensord.service/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/web.slice/tensord.service/cpu.cfs_period_us", "50000\n");
    expect(2048 * MIB, 1);
}

static void version_1_in_a_container(void **state)
{
    (void)state;
    process("7:cpu,cpuacct:/docker/0123\n5:memory:/docker/0123\n",
            "32 31 0:29 /docker/0123 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
            "35 31 0:32 /docker/0123 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "104857600\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    expect(100 * MIB, 3);
}

/* Version 1 has the controllers, and the tree of version 2 is mounted beside it. */
static void both_versions(void **state)
{
    (void)state;
    process("5:memory:/a\n7:cpu,cpuacct:/\n0::/a\n",
            "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n" V1);
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "104857600\n");
    put("/sys/fs/cgroup/unified/a/cgroup.procs", "1\n");
    expect(100 * MIB, 0);
}

static void nonsense_is_no_limit(void **state)
{
    (void)state;
    process("nonsense\n0:\n0::/a\n", "- - -\nx - cgroup2\n" V2);
    put("/sys/fs/cgroup/a/memory.max", "lots\n");
    put("/sys/fs/cgroup/a/cpu.max", "100000 0\n");
    expect(0, 0);
    put("/sys/fs/cgroup/a/memory.max", "");
    put("/sys/fs/cgroup/a/cpu.max", "100000\n");
    expect(0, 0);
    put("/sys/fs/cgroup/a/cpu.max", "18446744073709551615 1\n");
    expect(0, INT32_MAX);
}

static void long_lines_and_paths_are_read_or_left(void **state)
{
    char groups[4096] = "0::/", mounts[12000] = "22 1 0:19 / / rw - overlay overlay rw,lowerdir=";
    (void)state;
    memset(mounts + strlen(mounts), 'x', 9000);
    strcat(mounts, "\n" V2);
    process("0::/a\n", mounts);
    put("/sys/fs/cgroup/a/memory.max", "104857600\n");
    expect(100 * MIB, 0);
    memset(groups + 4, 'y', 4000);
    process(groups, V2);
    expect(0, 0);
}

int main(void)
{
#define ON_MACHINE(TEST) cmocka_unit_test_setup_teardown(TEST, make_machine, remove_machine)
    const struct CMUnitTest tests[] = {
        ON_MACHINE(without_groups_there_is_no_limit),
        ON_MACHINE(version_2_own_limit),
        ON_MACHINE(version_2_limit_of_the_slice_above),
        ON_MACHINE(version_2_least_of_three),
        ON_MACHINE(version_2_in_a_container_with_its_own_namespace),
        ON_MACHINE(version_2_in_a_container_that_shares_the_namespace),
        ON_MACHINE(version_2_seen_from_outside_its_namespace),
        ON_MACHINE(version_1_limit_of_the_slice_above),
        ON_MACHINE(version_1_in_a_container),
        ON_MACHINE(both_versions),
        ON_MACHINE(nonsense_is_no_limit),
        ON_MACHINE(long_lines_and_paths_are_read_or_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
