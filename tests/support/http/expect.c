#include "tests/support/http/expect.h"

#include "tests/support/proto/quote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SHOWN_MAX = 2000 };

static void show(const struct answer *a)
{
    print_error("answer: status %d\n", a->status);
    for (int i = 0; i < a->header_count; i++)
        print_error("  %s: %s\n", a->headers[i].name, a->headers[i].value);
    print_error("%.*s\n", SHOWN_MAX, a->body != NULL ? a->body : "");
}

static void check(const struct answer *a, bool holds, const char *what, const char *wanted)
{
    if (holds)
        return;
    show(a);
    fail_msg("expected %s: %s", what, wanted);
}

void expect_header(const struct answer *a, const char *name, const char *value)
{
    const char *found = answer_header(a, name);
    char wanted[256];

    snprintf(wanted, sizeof(wanted), "%s: %s", name, value != NULL ? value : "(absent)");
    if (value == NULL)
        check(a, found == NULL, "no header", wanted);
    else
        check(a, answer_header_count(a, name) == 1 && strcmp(found, value) == 0, "header", wanted);
}

void expect_part(const struct answer *a, const char *part)
{
    char *text = quote(part);

    check(a, a->body != NULL && strstr(a->body, text) != NULL, "a body with", text);
    free(text);
}

void expect_json(const struct answer *a, const char *body)
{
    char *text = quote(body);

    check(a, a->status == 200, "status", "200");
    expect_header(a, "Content-Type", "application/json");
    expect_header(a, "Inference-Header-Content-Length", NULL);
    check(a, a->size == strlen(text) + 1 && memcmp(a->body, text, a->size - 1) == 0, "body", text);
    check(a, a->body[a->size - 1] == '\n', "a newline after", text);
    free(text);
}

/* Whether the body is exactly {"error":"..."} and a newline, a string of JSON after `start`. */
static bool is_only_error(const struct answer *a, size_t start)
{
    for (const char *c = a->body + start; *c != '\0'; c++) {
        if (*c == '\\' && c[1] != '\0')
            c++;
        else if (*c == '"')
            return strcmp(c, "\"}\n") == 0;
    }
    return false;
}

void expect_error(const struct answer *a, int status, const char *code, const char *part)
{
    char start[128], text[16];
    size_t length = (size_t)snprintf(start, sizeof(start), "{\"error\":\"%s: ", code);

    snprintf(text, sizeof(text), "%d", status);
    check(a, a->status == status, "status", text);
    expect_header(a, "Error-Code", code);
    expect_header(a, "Content-Type", "application/json");
    check(a, a->size > length && strncmp(a->body, start, length) == 0, "a body that starts", start);
    check(a, is_only_error(a, length), "one member, error, after", start);
    expect_part(a, part);
}

void expect_binary(const struct answer *a, const char *json, const void *tensors, size_t size_bytes)
{
    char *text = quote(json);
    size_t size = 0, length = strlen(text), header;
    const char *found = answer_tensors(a, &size);

    check(a, a->status == 200, "status", "200");
    expect_header(a, "Content-Type", "application/octet-stream");
    check(a, found != NULL, "header", "Inference-Header-Content-Length");
    header = (size_t)(found - a->body);
    check(a, header % 64 == 0, "tensors", "at a multiple of 64");
    check(a, header >= length && memcmp(a->body, text, length) == 0, "JSON", text);
    check(a, strspn(a->body + length, " ") >= header - length, "padding", "of blanks");
    check(a, size == size_bytes && memcmp(found, tensors, size) == 0, "tensors", "other bytes");
    free(text);
}
