/* threads: those of a process. */
#ifndef TESTS_SUPPORT_HTTP_THREADS_H
#define TESTS_SUPPORT_HTTP_THREADS_H

#include <sys/types.h>

/* Their numbers in a fixed order, one a line, owned by the caller: the same text as long as none
 * begins or ends. NULL when there is no such process. */
char *threads_list(pid_t pid);

#endif
