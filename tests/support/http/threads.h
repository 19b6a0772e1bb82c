/* threads: the threads of a process. */
#ifndef TESTS_SUPPORT_HTTP_THREADS_H
#define TESTS_SUPPORT_HTTP_THREADS_H

#include <sys/types.h>

/* The threads' numbers in a fixed order, one a line, owned by the caller: the same text as long as
 * no thread begins or ends. NULL when there is no such process. */
char *threads_list(pid_t pid);

#endif
