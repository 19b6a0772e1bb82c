/* server_echo: the servers that tensord is measured against. Each is a child process that answers a
 * POST with its own body and does nothing else. */
#ifndef TESTS_BENCH_SERVER_ECHO_H
#define TESTS_BENCH_SERVER_ECHO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct echo {
    pid_t pid;
    int port;
};

/* libmicrohttpd as bare as it comes: epoll threads, the body collected in one allocation a request,
 * answered inline from it. */
bool echo_start_http(struct echo *echo);

/* Raw sockets: one blocking thread, one connection after the other, one recycled buffer of
 * `capacity` bytes touched before the first request, 256 KiB a recv, the whole body read before it
 * is sent back. */
bool echo_start_raw(struct echo *echo, size_t capacity);

void echo_stop(struct echo *echo);

#endif
