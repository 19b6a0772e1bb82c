/* answer: an HTTP answer as a test sees it. */
#ifndef TESTS_SUPPORT_HTTP_ANSWER_H
#define TESTS_SUPPORT_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

enum { ANSWER_HEADERS_MAX = 64 };

struct answer {
    int status;
    int header_count;
    struct {
        const char *name, *value; /* in `head` */
    } headers[ANSWER_HEADERS_MAX];
    char *head;  /* owned */
    char *body;  /* owned; always followed by a NUL */
    size_t size; /* of the body */
};

/* Reads a status line and header lines from `head`, which the answer takes over and cuts up. */
bool answer_parse_head(struct answer *a, char *head);

void answer_release(struct answer *a);

/* The first header of that name (letters' case is ignored), or NULL. */
const char *answer_header(const struct answer *a, const char *name);

int answer_header_count(const struct answer *a, const char *name);

/* The bytes after the JSON of a binary answer, or NULL when it has no length header or a wrong
 * one. */
const char *answer_tensors(const struct answer *a, size_t *size_bytes);

#endif
