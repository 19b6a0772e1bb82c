/* cgroup: what the control groups that the process is in allow, of version 2 or 1. Limits are
 * hierarchical: of a group and all groups above it, as far as they can be seen, the least counts.
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
