/* process: what the kernel says about this process, for metrics. */
#ifndef SERVER_HTTP_PROCESS_H
#define SERVER_HTTP_PROCESS_H

#include <stdint.h>

struct process {
    double cpu_seconds;
    uint64_t resident_bytes;
    uint64_t open_files, most_files;
};

void process_look(struct process *process);

/* When it was started, in seconds since 1970, as the clocks are now. They are set and drift: two
 * calls differ a little. */
double process_start(void);

#endif
