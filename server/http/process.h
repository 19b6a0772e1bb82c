/* process: what the kernel says about this process, for metrics. */
#ifndef SERVER_HTTP_PROCESS_H
#define SERVER_HTTP_PROCESS_H

#include <stdint.h>

struct process {
    double cpu_seconds;
    uint64_t resident_bytes;
    uint64_t open_files, most_files;
    double start_seconds; /* since 1970 */
};

void process_look(struct process *process);

#endif
