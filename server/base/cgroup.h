/* cgroup: the limits of the process's control groups, version 1 or 2. Limits are hierarchical: the
 * least counts, of the process's group and of every visible group above it.
 *
 * `root` is the folder in which /proc and /sys are looked for: "" is this machine. */
#ifndef SERVER_BASE_CGROUP_H
#define SERVER_BASE_CGROUP_H

#include <stdint.h>

/* Bytes of memory; 0: no limit is known. */
uint64_t cgroup_memory(const char *root);

/* Whole CPUs of the quota, rounded up; 0: no quota is known. */
int cgroup_cpus(const char *root);

#endif
