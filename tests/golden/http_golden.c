/* Every golden case over HTTP: as JSON, as JSON with binary tensors, and as safetensors. */
#include "tests/support/golden/request.h"
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const problem = "Accept: application/problem+json";

static struct answer infer(struct fixture *f, const struct golden_case *c, const struct body *b,
                           const char *header)
{
    char path[128];

    snprintf(path, sizeof(path), "/v2/models/%s/infer", c->op);
    return fixture_call(f, &(struct call){.path = path,
                                          .headers = {c->fails ? problem : "Expect:", header, NULL},
                                          .body = b->data,
                                          .size = b->size});
}

/* "name":[1,2] as it stands in a problem document; integers above 2^53 are strings there. */
static void print_integers(char *text, size_t size, const char *name, const int64_t *values,
                           int rank)
{
    int at = snprintf(text, size, "\"%s\":[", name);

    for (int i = 0; i < rank; i++) {
        bool large = values[i] > (INT64_C(1) << 53) || values[i] < -(INT64_C(1) << 53);

        at += snprintf(text + at, size - (size_t)at, large ? "%s\"%lld\"" : "%s%lld",
                       i > 0 ? "," : "", (long long)values[i]);
    }
    snprintf(text + at, size - (size_t)at, "]");
}

static void check_member(const struct answer *a, const char *first, const char *name,
                         const int64_t *values, int rank)
{
    char text[1024];

    if (rank < 0)
        return;
    print_integers(text, sizeof(text), name, values, rank);
    if (strstr(first, text) == NULL)
        fail_msg("expected %s in %s", text, a->body);
}

static void check_error(const struct answer *a, const struct golden_error *e)
{
    char text[256], *first;

    expect_header(a, "Error-Code", e->code);
    expect_header(a, "Content-Type", "application/problem+json");
    if (e->position_rank < 0)
        return;
    first = strstr(a->body, "\"errors\":[{");
    assert_non_null(first);
    first = strndup(first, strcspn(first, "}"));
    snprintf(text, sizeof(text), "\"input\":\"%s\"", e->input);
    assert_non_null(strstr(first, text));
    check_member(a, first, "position", e->position, e->position_rank);
    check_member(a, first, "index", e->index, e->index_rank);
    check_member(a, first, "bound", e->bound, e->bound_rank);
    free(first);
}

/* Whether the answer's JSON says what was computed, for whom, and of which shape. */
static void check_description(const struct answer *a, const struct golden_case *c,
                              const char *member)
{
    char text[1024], shape[512] = "[";
    const struct tensor *t = &c->output.tensor;

    for (int i = 0; i < t->rank; i++)
        snprintf(shape + strlen(shape), sizeof(shape) - strlen(shape), "%s%lld", i > 0 ? "," : "",
                 (long long)t->shape[i]);
    snprintf(text, sizeof(text), "{'model_name':'%s','model_version':'1',", c->op);
    expect_part(a, text);
    snprintf(text, sizeof(text),
             "'outputs':[{'name':'output','datatype':'%s','shape':%s],'%s':", dtype_name(t->dtype),
             shape, member);
    expect_part(a, text);
}

/* The answer's output has the form of a case's, and the reader of cases reads it. */
static void check_json(const struct answer *a, const struct golden_case *c)
{
    char *line = NULL, *outputs;
    struct golden g = {0};
    struct golden_case found;
    int size;

    check_description(a, c, "data");
    outputs = strstr(a->body, "\"outputs\":");
    size = asprintf(&line, "{\"case\":\"\",\"op\":\"\",%s", outputs);
    assert_true(size > 0);
    g.file = fmemopen(line, (size_t)size, "r");
    assert_non_null(g.file);
    assert_true(golden_next(&g, &found));
    if (!golden_equal(&found.output.tensor, &c->output.tensor))
        fail_msg("case %s: another answer: %.2000s", c->name, a->body);
    golden_close(&g);
    free(line);
}

/* Makes spans of BYTES that travelled with their lengths; the elements of other types are moved to
 * where they are aligned. */
static void read_tensor(struct tensor *t, const char *bytes, size_t size)
{
    int64_t count = 0;
    size_t at = 0;

    assert_true(tensor_count(t, &count));
    t->data = malloc((size_t)count * dtype_bytes(t->dtype) + 1);
    assert_non_null(t->data);
    if (t->dtype != DTYPE_BYTES) {
        assert_int_equal(size, (size_t)count * dtype_bytes(t->dtype));
        memcpy(t->data, bytes, size);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        uint32_t length;

        assert_true(size - at >= sizeof(length));
        memcpy(&length, bytes + at, sizeof(length));
        at += sizeof(length);
        assert_true(size - at >= length);
        ((struct span *)t->data)[i] = (struct span){bytes + at, length};
        at += length;
    }
    assert_int_equal(at, size);
}

static void check_tensor(const struct golden_case *c, const char *bytes, size_t size)
{
    struct tensor found = c->output.tensor;

    read_tensor(&found, bytes, size);
    if (!golden_equal(&found, &c->output.tensor))
        fail_msg("case %s: another answer", c->name);
    free(found.data);
}

static void check_binary(const struct answer *a, const struct golden_case *c)
{
    size_t size = 0;
    const char *bytes = answer_tensors(a, &size);

    assert_non_null(bytes);
    check_description(a, c, "parameters");
    check_tensor(c, bytes, size);
}

static void check_safetensors(const struct answer *a, const struct golden_case *c)
{
    const struct tensor *t = &c->output.tensor;
    char text[1024];
    uint64_t length;
    int at;

    expect_header(a, "Content-Type", "application/vnd.safetensors");
    assert_true(a->size >= sizeof(length));
    memcpy(&length, a->body, sizeof(length));
    assert_true(length % 8 == 0 && length <= a->size - sizeof(length));
    at = snprintf(text, sizeof(text), "\"output\":{\"dtype\":\"%s\",\"shape\":[",
                  dtype_safetensors_name(t->dtype));
    for (int i = 0; i < t->rank; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%lld", i > 0 ? "," : "",
                       (long long)t->shape[i]);
    snprintf(text + at, sizeof(text) - (size_t)at, "],\"data_offsets\":[0,%zu]}",
             a->size - 8 - length);
    assert_non_null(memmem(a->body + 8, length, text, strlen(text)));
    check_tensor(c, a->body + 8 + length, a->size - 8 - length);
}

struct form {
    bool v2; /* has no complex type */
    bool (*make)(const struct golden_case *c, struct body *b);
    void (*check)(const struct answer *a, const struct golden_case *c);
    const char *header; /* NULL: the length of the JSON */
};

static const struct form forms[] = {
    {true, golden_as_json, check_json, "Content-Type: application/json"},
    {true, golden_as_binary, check_binary, NULL},
    {false, golden_as_safetensors, check_safetensors, "Content-Type: application/vnd.safetensors"},
};

static bool check_case(struct fixture *f, struct golden_case c, const struct form *form)
{
    int64_t memory[RANK_MAX + 1];
    char length[64];
    struct body b = {0};
    struct answer a;

    if (form->v2 && !golden_without_complex(&c, memory))
        return false;
    if (!form->make(&c, &b))
        return false;
    snprintf(length, sizeof(length), "Inference-Header-Content-Length: %zu", b.header_length);
    a = infer(f, &c, &b, form->header != NULL ? form->header : length);
    if ((a.status == 200) == c.fails)
        fail_msg("case %s: status %d, %.2000s", c.name, a.status, a.body);
    if (c.fails)
        check_error(&a, &c.error);
    else
        form->check(&a, &c);
    answer_release(&a);
    body_release(&b);
    return true;
}

/* safetensors and v2 lack some types: at most a fifth of a file cannot be sent in a form. */
static void check_file(struct fixture *f, const char *path, const struct form *form)
{
    struct golden g;
    struct golden_case c;
    int cases = 0, sent = 0;

    golden_open(&g, path);
    for (; golden_next(&g, &c); cases++)
        sent += check_case(f, c, form);
    golden_close(&g);
    assert_true(cases >= GOLDEN_CASES_MIN);
    if (sent < cases * 4 / 5)
        fail_msg("%s: %d of %d cases were sent", path, sent, cases);
}

static void check_form(void **state, const struct form *form)
{
    for (int i = 0; i < golden_files(); i++)
        check_file(*state, golden_file_at(i), form);
}

static void as_json(void **state)
{
    check_form(state, &forms[0]);
}

static void as_binary(void **state)
{
    check_form(state, &forms[1]);
}

static void as_safetensors(void **state)
{
    check_form(state, &forms[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_json),
        cmocka_unit_test(as_binary),
        cmocka_unit_test(as_safetensors),
    };

    return cmocka_run_group_tests_name("golden over HTTP", tests, fixture_start, fixture_stop);
}
