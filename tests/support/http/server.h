/* server: a real tensord, started on a free port of 127.0.0.1 and stopped again. */
#ifndef TESTS_SUPPORT_HTTP_SERVER_H
#define TESTS_SUPPORT_HTTP_SERVER_H

#include "kernels/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct server {
    pid_t pid; /* 0: not running */
    int port;
    char log_path[64]; /* standard output and error */
};

/* Starts the tensord that was built with this program (TENSORD names it for programs that stand
 * elsewhere) with --listen=127.0.0.1:0 and `settings` ("--name=value", NULL-terminated, may be
 * NULL), and waits until its log says where it listens. On failure prints the log and returns
 * false. */
MUST_CHECK bool server_start(struct server *s, const char *const *settings);

/* The same on a socket that listens on a port of 127.0.0.1, handed over the way systemd does. It
 * stays the caller's as well. */
bool server_start_on(struct server *s, int socket, const char *const *settings);

/* The port of the listener whose address starts so, such as "tls:127.0.0.1:". Waits until the log
 * tells it: server_start returns when the first of several listeners is told. 0: there is none. */
MUST_CHECK int server_port(const struct server *s, const char *prefix);

/* Waits until the log holds `part` `times` times; false after a minute. */
MUST_CHECK bool server_says(const struct server *s, const char *part, int times);

/* Sends SIGTERM and waits. Returns the exit status, 128 + signal when a signal ended it, or -1 when
 * it did not end within a minute (it is killed then). A status other than 0 prints the log. */
MUST_CHECK int server_stop(struct server *s);

/* server_stop in two steps. */
void server_terminate(const struct server *s);
int server_wait(struct server *s);

/* Starts a server with settings that must make it end by itself. Returns the exit status, 128 +
 * signal when a signal ended it, or -1 when it did not end within a minute (it is killed then).
 * What it printed is at *text, owned by the caller. */
MUST_CHECK int server_refuse(const char *const *settings, char **text);

/* True while the process runs. */
bool server_running(struct server *s);

/* The whole log so far, owned by the caller; NULL when it cannot be read. */
MUST_CHECK char *server_log(const struct server *s);

/* A number in kB from /proc/PID/status, such as "VmHWM"; -1 when there is none. */
long server_memory_kb(const struct server *s, const char *field);

#endif
