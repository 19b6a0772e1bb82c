#include "tests/support/http/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool answer_parse_head(struct answer *a, char *head)
{
    char *rest = head, *line = strsep(&rest, "\n");

    a->head = head;
    a->header_count = 0;
    if (sscanf(line, "HTTP/1.1 %d", &a->status) != 1)
        return false;
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0' && *line != '\r') {
        char *value = strchr(line, ':');

        if (value == NULL || a->header_count == ANSWER_HEADERS_MAX)
            return false;
        *value++ = '\0';
        value += strspn(value, " ");
        value[strcspn(value, "\r")] = '\0';
        a->headers[a->header_count].name = line;
        a->headers[a->header_count].value = value;
        a->header_count++;
    }
    return true;
}

void answer_release(struct answer *a)
{
    free(a->head);
    free(a->body);
    *a = (struct answer){0};
}

const char *answer_header(const struct answer *a, const char *name)
{
    for (int i = 0; i < a->header_count; i++)
        if (strcasecmp(a->headers[i].name, name) == 0)
            return a->headers[i].value;
    return NULL;
}

int answer_header_count(const struct answer *a, const char *name)
{
    int count = 0;

    for (int i = 0; i < a->header_count; i++)
        count += strcasecmp(a->headers[i].name, name) == 0;
    return count;
}

const char *answer_tensors(const struct answer *a, size_t *size_bytes)
{
    const char *text = answer_header(a, "Inference-Header-Content-Length");
    char *end;
    unsigned long length;

    if (text == NULL)
        return NULL;
    length = strtoul(text, &end, 10);
    if (*end != '\0' || length == 0 || length > a->size)
        return NULL;
    *size_bytes = a->size - length;
    return a->body + length;
}
