/* 10,000 small requests over 64 connections at once, among them 64 MiB ones: every answer is the
 * right one. */
#include "tests/support/http/crowd.h"
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REQUESTS = 10000,
    MEMBERS = 64,
    GIANTS = 3, /* members that send the large ones */
    GIANT_REQUESTS = 4,
    GIANT_COUNT = 16 << 20,
    TEXT_MAX = 512
};

struct member {
    int number; /* of its request: it makes the answer differ from all others */
    bool binary;
    int left; /* requests of a giant */
    char text[TEXT_MAX];
    struct body body;
    char length[64];
    float *tensor; /* a giant's */
};

struct traffic {
    struct member members[MEMBERS];
    int sent, right;
};

static const char small_path[] = "/v2/models/tensor_scatter_add/infer";
static const char giant_path[] = "/v2/models/tensor_scatter_update/infer";

static void ask_binary(struct member *m, struct call *call)
{
    const float tensor[8] = {(float)m->number, 1, 2, 3, 4, 5, 6, 7};
    const float updates[4] = {1, 2, 3, 4};
    const int32_t indices[4] = {7, 0, 7, 0};
    const struct part parts[] = {
        {"tensor", "FP32", "[8]", tensor, sizeof(tensor)},
        {"indices", "INT32", "[4,1]", indices, sizeof(indices)},
        {"updates", "FP32", "[4]", updates, sizeof(updates)},
    };

    body_release(&m->body);
    assert_true(body_binary(&m->body, parts, 3, ",'parameters':{'binary_data_output':true}"));
    snprintf(m->length, sizeof(m->length), "Inference-Header-Content-Length: %zu",
             m->body.header_length);
    *call = (struct call){
        .path = small_path, .headers = {m->length}, .body = m->body.data, .size = m->body.size};
}

static void ask_json(struct member *m, struct call *call)
{
    int size = snprintf(m->text, sizeof(m->text),
                        "{\"id\":\"%d\",\"inputs\":{\"tensor\":[%d,1,2,3,4,5,6,7],"
                        "\"indices\":[[7],[0],[7],[0]],\"updates\":[1,2,3,4]}}",
                        m->number, m->number);

    *call = (struct call){.path = small_path, .body = m->text, .size = (size_t)size};
}

/* The tensor is the one in the body: only the index and the update differ from time to time. */
static bool ask_giant(struct member *m, struct call *call)
{
    if (m->left-- == 0)
        return false;
    memcpy(m->body.data + m->body.header_length, &(int32_t){m->number}, 4);
    memcpy(m->body.data + m->body.header_length + 4, &(float){(float)m->left + 0.5f}, 4);
    *call = (struct call){
        .path = giant_path, .headers = {m->length}, .body = m->body.data, .size = m->body.size};
    return true;
}

static bool ask(void *context, int member, struct call *call)
{
    struct traffic *t = context;
    struct member *m = &t->members[member];

    if (member < GIANTS)
        return ask_giant(m, call);
    if (t->sent == REQUESTS)
        return false;
    m->number = t->sent++;
    m->binary = m->number % 2 == 0;
    if (m->binary)
        ask_binary(m, call);
    else
        ask_json(m, call);
    return true;
}

static bool hear_giant(struct member *m, const struct answer *a)
{
    size_t size = 0;
    const char *found = answer_tensors(a, &size);
    const float wanted = (float)m->left + 0.5f, before = m->tensor[m->number];
    bool right = found != NULL && size == GIANT_COUNT * sizeof(float);

    m->tensor[m->number] = wanted;
    right = right && memcmp(found, m->tensor, size) == 0;
    m->tensor[m->number] = before;
    return right;
}

static bool hear_binary(const struct member *m, const struct answer *a)
{
    const float wanted[8] = {(float)m->number + 6, 1, 2, 3, 4, 5, 6, 11};
    size_t size = 0;
    const char *found = answer_tensors(a, &size);

    return found != NULL && size == sizeof(wanted) && memcmp(found, wanted, size) == 0;
}

static bool hear_json(const struct member *m, const struct answer *a)
{
    char wanted[TEXT_MAX];

    snprintf(wanted, sizeof(wanted),
             "{\"model_name\":\"tensor_scatter_add\",\"model_version\":\"1\",\"id\":\"%d\","
             "\"outputs\":[{\"name\":\"output\",\"datatype\":\"FP32\",\"shape\":[8],"
             "\"data\":[%d.0,1.0,2.0,3.0,4.0,5.0,6.0,11.0]}]}\n",
             m->number, m->number + 6);
    return strcmp(a->body, wanted) == 0;
}

static bool hear(void *context, int member, const struct answer *a)
{
    struct traffic *t = context;
    struct member *m = &t->members[member];
    bool right = false;

    if (a == NULL)
        return false;
    if (a->status != 200)
        right = false;
    else if (member < GIANTS)
        right = hear_giant(m, a);
    else
        right = m->binary ? hear_binary(m, a) : hear_json(m, a);
    if (!right)
        print_error("request %d of member %d: status %d, %.300s\n", m->number, member, a->status,
                    a->body);
    t->right += right;
    return right;
}

static void make_giant(struct member *m, int number)
{
    const float none = 0;
    struct part parts[] = {
        {"indices", "INT32", "[1,1]", &number, sizeof(int32_t)},
        {"updates", "FP32", "[1]", &none, sizeof(none)},
        {"tensor", "FP32", "[16777216]", NULL, GIANT_COUNT * sizeof(float)},
    };

    m->number = number;
    m->left = GIANT_REQUESTS;
    m->tensor = malloc(GIANT_COUNT * sizeof(float));
    assert_non_null(m->tensor);
    for (int i = 0; i < GIANT_COUNT; i++)
        m->tensor[i] = (float)(i ^ number);
    parts[2].data = m->tensor;
    assert_true(body_binary(&m->body, parts, 3, ",'parameters':{'binary_data_output':true}"));
    snprintf(m->length, sizeof(m->length), "Inference-Header-Content-Length: %zu",
             m->body.header_length);
}

static void every_answer_is_the_right_one(void **state)
{
    struct fixture *f = *state;
    struct traffic *t = calloc(1, sizeof(*t));
    const struct crowd crowd = {
        .port = f->server.port, .members = MEMBERS, .context = t, .ask = ask, .hear = hear};

    assert_non_null(t);
    for (int i = 0; i < GIANTS; i++)
        make_giant(&t->members[i], GIANT_COUNT / GIANTS * i + 12345);
    assert_true(crowd_run(&crowd));
    assert_int_equal(t->right, REQUESTS + GIANTS * GIANT_REQUESTS);
    for (int i = 0; i < MEMBERS; i++) {
        body_release(&t->members[i].body);
        free(t->members[i].tensor);
    }
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_answer_is_the_right_one)};

    return cmocka_run_group_tests_name("traffic", tests, fixture_start, fixture_stop);
}
