#include "tests/fuzz/fuzz.h"

#include "kernels/op.h"
#include "proto/answer/problem.h"
#include "proto/json/scan.h"
#include "proto/request/recall.h"
#include "tests/support/proto/infer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_fail(const char *file, int line, const char *statement)
{
    fprintf(stderr, "%s:%d: it is not so that %s\n", file, line, statement);
    abort();
}

static void check_json(const char *text, size_t size)
{
    struct test_memory memory;
    struct json_scan scan;
    struct error error;

    test_memory_init(&memory);
    FUZZ_CHECK(json_scan(&scan, text, size, size, &memory.work, &error) == ERROR_NONE);
    test_memory_clear(&memory);
}

void fuzz_error(const struct error *error)
{
    char text[PROBLEM_TEXT_MAX];

    FUZZ_CHECK(error->code > ERROR_NONE && error->code < ERROR_CANCELLED);
    FUZZ_CHECK(error->code != ERROR_INTERNAL);
    FUZZ_CHECK(error->message[0] != '\0');
    for (int document = 0; document < 2; document++) {
        size_t size = problem_print(text, error, document, "instance");

        FUZZ_CHECK(size == strlen(text));
        check_json(text, size);
    }
}

static void check_answer(const struct infer *f)
{
    const struct response *r = &f->response;
    uint64_t length;

    switch (f->request.answer) {
    case ENCODING_JSON:
        /* Bare tokens are no JSON: whoever asks for them wants them. */
        if (f->request.nonfinite != NONFINITE_TOKEN)
            check_json(r->data, r->size);
        FUZZ_CHECK(r->header_length == -1);
        break;
    case ENCODING_BINARY:
        FUZZ_CHECK(r->header_length > 0 && (size_t)r->header_length <= r->size);
        FUZZ_CHECK(r->header_length % TENSOR_ALIGNMENT == 0);
        check_json(r->data, (size_t)r->header_length);
        break;
    default:
        FUZZ_CHECK(r->size >= sizeof(length));
        memcpy(&length, r->data, sizeof(length));
        FUZZ_CHECK(length <= r->size - sizeof(length));
        FUZZ_CHECK((sizeof(length) + length) % TENSOR_ALIGNMENT == 0);
        check_json(r->data + sizeof(length), length);
        break;
    }
}

static void begin(struct infer *f, enum encoding body, int64_t header_length,
                  const uint8_t *choices)
{
    infer_init(f);
    f->memory.limit = FUZZ_MEMORY_LIMIT;
    f->memory.fail_at = choices[1] % 16;
    f->rules.body_limit = f->rules.json_limit = FUZZ_BODY_LIMIT;
    f->rules.output_limit = FUZZ_OUTPUT_LIMIT;
    f->rules.cuda_devices = 2;
    f->head.body = body;
    f->head.header_length = header_length;
    f->head.accepted = (enum encoding)(choices[2] % (ENCODING_COUNT + 1));
    f->misaligned = choices[2] / 16;
}

static const char *chosen_op(const uint8_t *choices)
{
    return op_at(choices[0] % op_count())->name;
}

void fuzz_infer(enum encoding body, int64_t header_length, const uint8_t *choices,
                const uint8_t *data, size_t size)
{
    struct infer f;

    begin(&f, body, header_length, choices);
    if (infer_answer(&f, chosen_op(choices), data, size) == ERROR_NONE)
        check_answer(&f);
    else
        fuzz_error(&f.error);
    infer_release(&f);
}

static void check_same(enum error_code code, const struct infer *f, enum error_code expected,
                       const struct infer *g)
{
    FUZZ_CHECK(code == expected);
    if (code) {
        FUZZ_CHECK(strcmp(f->error.message, g->error.message) == 0);
        return;
    }
    FUZZ_CHECK(f->response.size == g->response.size);
    FUZZ_CHECK(memcmp(f->response.data, g->response.data, f->response.size) == 0);
}

/* One byte of it is another. */
static char *neighbour(const uint8_t *choices, const uint8_t *data, size_t size)
{
    static const char bytes[] = "1[,]0{}\":n\\ -.e\xc3"; /* 16 */
    char *text = malloc(size);

    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[choices[2] * size / 256] = bytes[choices[1] % 16];
    return text;
}

void fuzz_recall(const uint8_t *choices, const uint8_t *data, size_t size)
{
    struct infer plain, recalled;
    char *text = neighbour(choices, data, size);

    begin(&plain, ENCODING_JSON, -1, choices);
    begin(&recalled, ENCODING_JSON, -1, choices);
    plain.memory.fail_at = recalled.memory.fail_at = 0;
    recalled.memory.work.recall = recall_new();
    enum error_code expected = infer_answer(&plain, chosen_op(choices), data, size);
    (void)infer_answer(&recalled, chosen_op(choices), text, size);
    for (int time = 0; time < 2; time++)
        check_same(infer_answer(&recalled, chosen_op(choices), data, size), &recalled, expected,
                   &plain);
    recall_free(recalled.memory.work.recall);
    infer_release(&recalled);
    infer_release(&plain);
    free(text);
}
