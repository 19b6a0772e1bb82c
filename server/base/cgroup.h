/* cgroup: what the container that the process runs in allows, version 2 or 1. */
#ifndef SERVER_BASE_CGROUP_H
#define SERVER_BASE_CGROUP_H

#include <stdint.h>

/* Bytes of memory; 0: no limit is known. */
uint64_t cgroup_memory(void);

/* Whole CPUs of the quota, rounded up; 0: no quota is known. */
int cgroup_cpus(void);

#endif
