#include "tests/bench/server_request.h"

#include "tests/support/http/body.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRESH_COUNT = 8192, TURNS_COUNT = 32, NAMES_COUNT = 1000 };
enum { LARGE_COUNT = 16 << 20, LARGE_UPDATES = 100000, JSON_COUNT = 1000000, JSON_UPDATES = 1000 };
enum { BUSY_COLUMNS = 6144, BUSY_ROWS = 3072 };
enum { TABLE_ROWS = 1000000, TABLE_WIDTH = 64, UPDATE_ROWS = 10000 };

static const char add[] = "tensor_scatter_add";
static const char binary_output[] = ",'parameters':{'binary_data_output':true}";

/* The same numbers in every run and on every machine. */
static uint32_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static bool wrap(struct wire_request *r, const char *op, const char *headers, const char *body,
                 size_t size)
{
    char head[512];
    int name = (int)strcspn(op, "?"); /* a query may follow it */
    int length = snprintf(head, sizeof(head),
                          "POST /v2/models/%.*s/infer%s HTTP/1.1\r\n"
                          "Host: 127.0.0.1\r\n%sContent-Length: %zu\r\n\r\n",
                          name, op, op + name, headers, size);

    r->body_offset = (size_t)length;
    r->size = r->body_offset + size;
    r->bytes = malloc(r->size + 1);
    if (r->bytes == NULL)
        return false;
    memcpy(r->bytes, head, r->body_offset);
    memcpy(r->bytes + r->body_offset, body, size);
    r->bytes[r->size] = '\0';
    return true;
}

static bool wrap_parts(struct wire_request *r, const char *op, const struct part *parts, int count)
{
    struct body body;
    char header[64];
    bool made;

    if (!body_binary(&body, parts, count, binary_output))
        return false;
    snprintf(header, sizeof(header), "Inference-Header-Content-Length: %zu\r\n",
             body.header_length);
    made = wrap(r, op, header, body.data, body.size);
    body_release(&body);
    return made;
}

static bool wrap_binary(struct wire_request *r, const char *op, const struct part *parts)
{
    return wrap_parts(r, op, parts, 3);
}

static bool small_json(struct wire_request *r)
{
    static const char body[] =
        "{\"inputs\":[{\"name\":\"tensor\",\"datatype\":\"FP32\",\"shape\":[8],"
        "\"data\":[1.5,2.5,3.5,4.5,5.5,6.5,7.5,8.5]},"
        "{\"name\":\"indices\",\"datatype\":\"INT32\",\"shape\":[4,1],\"data\":[4,3,1,7]},"
        "{\"name\":\"updates\",\"datatype\":\"FP32\",\"shape\":[4],"
        "\"data\":[9.25,10.25,11.25,12.25]}]}";

    return wrap(r, add, "Content-Type: application/json\r\n", body, sizeof(body) - 1);
}

static const float small_tensor[8] = {1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f, 8.5f};
static const int32_t small_indices[4] = {4, 3, 1, 7};
static const float small_updates[4] = {9.25f, 10.25f, 11.25f, 12.25f};

static bool small_binary(struct wire_request *r)
{
    const struct part parts[] = {
        {"tensor", "FP32", "[8]", small_tensor, sizeof(small_tensor)},
        {"indices", "INT32", "[4,1]", small_indices, sizeof(small_indices)},
        {"updates", "FP32", "[4]", small_updates, sizeof(small_updates)},
    };

    return wrap_binary(r, add, parts);
}

static bool small_safetensors(struct wire_request *r)
{
    static const char json[] =
        "{\"tensor\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[0,32]},"
        "\"updates\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[32,48]},"
        "\"indices\":{\"dtype\":\"I32\",\"shape\":[4,1],\"data_offsets\":[48,64]}}";
    const uint64_t length = (sizeof(json) - 1 + 7) / 8 * 8;
    char body[512];
    char *at = body;

    memset(body, ' ', sizeof(body));
    at = (char *)memcpy(at, &length, 8) + 8;
    memcpy(at, json, sizeof(json) - 1);
    at += length;
    at = (char *)memcpy(at, small_tensor, sizeof(small_tensor)) + sizeof(small_tensor);
    at = (char *)memcpy(at, small_updates, sizeof(small_updates)) + sizeof(small_updates);
    at = (char *)memcpy(at, small_indices, sizeof(small_indices)) + sizeof(small_indices);
    return wrap(r, add, "Content-Type: application/vnd.safetensors\r\n", body, (size_t)(at - body));
}

static bool small_lookup(struct wire_request *r)
{
    return wire_lookup(r, 16);
}

/* `number`: in its turn. */
static bool json_of(struct wire_request *r, const char *id, int number, int elements)
{
    char body[1024], data[512];
    int size = 0;

    for (int i = 0; i < elements; i++)
        size += sprintf(data + size, "%s%d.5", i > 0 ? "," : "", (number + i) % 1000);
    size = snprintf(body, sizeof(body),
                    "{%s\"inputs\":[{\"name\":\"tensor\",\"datatype\":\"FP32\",\"shape\":[%d],"
                    "\"data\":[%s]},"
                    "{\"name\":\"indices\",\"datatype\":\"INT32\",\"shape\":[4,1],"
                    "\"data\":[%d,3,1,7]},"
                    "{\"name\":\"updates\",\"datatype\":\"FP32\",\"shape\":[4],"
                    "\"data\":[%d.25,10.25,11.25,12.25]}]}",
                    id, elements, data, number % 8, number % 1000);
    return wrap(r, add, "Content-Type: application/json\r\n", body, (size_t)size);
}

static bool fresh_json(struct wire_request *r, int number)
{
    char id[32];

    snprintf(id, sizeof(id), "\"id\":\"%08x\",", (unsigned)number * 2654435761u);
    return json_of(r, id, number, 8);
}

static bool lookup_name(struct wire_request *r, int number)
{
    static const int32_t rows[16] = {3, 14, 15, 92, 65, 35, 89, 79, 32, 38, 46, 26, 43, 83, 27, 95};
    const struct part part = {"indices", "INT32", "[16,1]", rows, sizeof(rows)};
    char op[64];

    snprintf(op, sizeof(op), "gather_nd?tensor=name-%d", number);
    return wrap_parts(r, op, &part, 1);
}

int wire_small_count(enum form form)
{
    return form == FORM_FRESH   ? FRESH_COUNT
           : form == FORM_TURNS ? TURNS_COUNT
           : form == FORM_NAMES ? NAMES_COUNT
                                : 1;
}

bool wire_small_all(struct wire_request *r, enum form form)
{
    bool made = true;

    for (int i = 0; i < wire_small_count(form) && made; i++)
        made = form == FORM_FRESH   ? fresh_json(&r[i], i)
               : form == FORM_TURNS ? json_of(&r[i], "", i, 8 + i)
               : form == FORM_NAMES ? lookup_name(&r[i], i)
                                    : wire_small(&r[i], form);
    return made;
}

bool wire_small(struct wire_request *r, enum form form)
{
    static bool (*const makers[])(struct wire_request *) = {
        [FORM_JSON] = small_json,
        [FORM_BINARY] = small_binary,
        [FORM_SAFETENSORS] = small_safetensors,
        [FORM_LOOKUP] = small_lookup,
    };

    return makers[form](r);
}

bool wire_busy(struct wire_request *r)
{
    static float data[BUSY_COLUMNS];
    static int32_t indices[BUSY_ROWS], ids[BUSY_ROWS];
    const struct part parts[] = {
        {"data", "FP32", "[1,6144]", data, sizeof(data)},
        {"indices", "INT32", "[3072]", indices, sizeof(indices)},
        {"segment_ids", "INT32", "[3072]", ids, sizeof(ids)},
    };

    return wrap_binary(r, "sparse_segment_sum", parts);
}

bool wire_large(struct wire_request *r)
{
    float *tensor = malloc(LARGE_COUNT * sizeof(float));
    float *updates = malloc(LARGE_UPDATES * sizeof(float));
    int32_t *indices = malloc(LARGE_UPDATES * sizeof(int32_t));
    const struct part parts[] = {
        {"tensor", "FP32", "[16777216]", tensor, LARGE_COUNT * sizeof(float)},
        {"indices", "INT32", "[100000,1]", indices, LARGE_UPDATES * sizeof(int32_t)},
        {"updates", "FP32", "[100000]", updates, LARGE_UPDATES * sizeof(float)},
    };
    uint64_t state = 1;
    bool made = tensor != NULL && updates != NULL && indices != NULL;

    for (int i = 0; made && i < LARGE_COUNT; i++)
        tensor[i] = (float)i;
    for (int i = 0; made && i < LARGE_UPDATES; i++) {
        indices[i] = (int32_t)(random_next(&state) % LARGE_COUNT);
        updates[i] = 1;
    }
    made = made && wrap_binary(r, add, parts);
    free(tensor);
    free(updates);
    free(indices);
    return made;
}

bool wire_keep_table(struct wire_request *r)
{
    static const char body[] =
        "{\"inputs\":[{\"name\":\"indices\",\"datatype\":\"INT32\",\"shape\":[0,1],\"data\":[]},"
        "{\"name\":\"updates\",\"datatype\":\"FP32\",\"shape\":[0,64],\"data\":[]},"
        "{\"name\":\"shape\",\"datatype\":\"INT32\",\"shape\":[2],\"data\":[1000000,64]}]}";

    return wrap(r, "scatter_nd?into=table", "", body, sizeof(body) - 1);
}

bool wire_keep_name(struct wire_request *r, int number)
{
    static const char body[] = "{\"inputs\":{\"indices\":{\"shape\":[0,1],\"data\":[]},"
                               "\"updates\":{\"shape\":[0,64],\"data\":[]},\"shape\":[100,64]}}";
    char op[64];

    snprintf(op, sizeof(op), "scatter_nd?into=name-%d", number);
    return wrap(r, op, "", body, sizeof(body) - 1);
}

static void pick_rows(int32_t *rows, int count)
{
    uint64_t state = 3;

    for (int i = 0; i < count; i++)
        rows[i] = (int32_t)(random_next(&state) % TABLE_ROWS);
}

bool wire_update(struct wire_request *r)
{
    static int32_t rows[UPDATE_ROWS];
    static float updates[UPDATE_ROWS * TABLE_WIDTH];
    const struct part parts[] = {{"indices", "INT32", "[10000,1]", rows, sizeof(rows)},
                                 {"updates", "FP32", "[10000,64]", updates, sizeof(updates)}};

    pick_rows(rows, UPDATE_ROWS);
    return wrap_parts(r, "tensor_scatter_add?tensor=table&into=table", parts, 2);
}

bool wire_lookup(struct wire_request *r, int count)
{
    static int32_t rows[UPDATE_ROWS];
    char shape[32];
    const struct part part = {"indices", "INT32", shape, rows, (size_t)count * sizeof(rows[0])};

    snprintf(shape, sizeof(shape), "[%d,1]", count);
    pick_rows(rows, count);
    return wrap_parts(r, "gather_nd?tensor=table", &part, 1);
}

bool wire_zeros(struct wire_request *r, size_t size)
{
    char *zeros = calloc(1, size);
    bool made = zeros != NULL && wrap(r, add, "", zeros, size);

    free(zeros);
    return made;
}

/* Nine digits are what float32 needs at the most; most need eight or nine. */
static void print_floats(FILE *stream, int count, uint64_t *state)
{
    for (int i = 0; i < count; i++) {
        float value = (float)random_next(state) / 2147483648.0f * 2 - 1;

        fprintf(stream, "%s%.9g", i > 0 ? "," : "[", (double)value);
    }
    fputc(']', stream);
}

bool wire_json(struct wire_request *r, size_t *data_offset, size_t *data_size)
{
    uint64_t state = 2;
    char *body = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&body, &size);
    long start, end;
    bool made;

    if (stream == NULL)
        return false;
    fprintf(stream,
            "{\"inputs\":[{\"name\":\"tensor\",\"datatype\":\"FP32\",\"shape\":[%d],"
            "\"data\":",
            JSON_COUNT);
    start = ftell(stream);
    print_floats(stream, JSON_COUNT, &state);
    end = ftell(stream);
    fprintf(stream, "},{\"name\":\"indices\",\"datatype\":\"INT32\",\"shape\":[%d,1],\"data\":",
            JSON_UPDATES);
    for (int i = 0; i < JSON_UPDATES; i++)
        fprintf(stream, "%s%u", i > 0 ? "," : "[", random_next(&state) % JSON_COUNT);
    fprintf(stream, "]},{\"name\":\"updates\",\"datatype\":\"FP32\",\"shape\":[%d],\"data\":",
            JSON_UPDATES);
    print_floats(stream, JSON_UPDATES, &state);
    fputs("}]}", stream);
    made = fclose(stream) == 0 && wrap(r, add, "Content-Type: application/json\r\n", body, size);
    free(body);
    *data_offset = r->body_offset + (size_t)start;
    *data_size = (size_t)(end - start);
    return made;
}

void wire_release(struct wire_request *r)
{
    free(r->bytes);
    r->bytes = NULL;
}
