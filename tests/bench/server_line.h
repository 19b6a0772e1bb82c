/* server_line: one connection to a server, and answers as they come in on it. */
#ifndef TESTS_BENCH_SERVER_LINE_H
#define TESTS_BENCH_SERVER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int64_t now_ns(void);

/* A connected socket, -1 when there is none. */
int line_socket(int port);

bool line_send(int fd, const char *bytes, size_t size);

/* The size of the answer that starts with these bytes: 0 while its head is not whole, -1 when it is
 * not a 200, or a 503 that may be, with a length. */
ssize_t line_answer_size(const char *bytes, size_t size, bool may_refuse);

/* Whether an answer with a size is a 503. */
bool line_is_refusal(const char *answer);

/* One connection for requests that are too large to be kept in socket buffers. */
struct line {
    int fd;
    char *answer; /* touched before the first request, reused */
    size_t capacity, answer_size;
};

bool line_open(struct line *line, int port, size_t capacity);
void line_close(struct line *line);

/* Sends a request and reads its answer, which must be 200. The seconds that it took, or -1. */
double line_exchange(struct line *line, const char *request, size_t size);

#endif
