#include "tests/support/http/message.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void message_init(struct message *m, const char *method, const char *format, ...)
{
    va_list arguments;
    m->method = method;
    m->header_count = 0;
    m->size = 0;
    va_start(arguments, format);
    vsnprintf(m->path, sizeof m->path, format, arguments);
    va_end(arguments);
}

void message_header(struct message *m, const char *format, ...)
{
    va_list arguments;
    assert(m->header_count < MESSAGE_HEADERS_MAX);
    va_start(arguments, format);
    vsnprintf(m->headers[m->header_count++], sizeof m->headers[0], format, arguments);
    va_end(arguments);
}

/* -------------------------------------------------------------------------------------- writing */

struct writer {
    char text[4096];
    size_t size;
};

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    w->size += (size_t)vsnprintf(w->text + w->size, sizeof w->text - w->size, format, arguments);
    va_end(arguments);
    assert(w->size < sizeof w->text);
}

static void put_shape(struct writer *w, const struct tensor *t, char open, char close)
{
    if (open)
        put(w, "%c", open);
    for (int i = 0; i < t->rank; i++)
        put(w, "%s%lld", i ? "," : "", (long long)t->shape[i]);
    if (close)
        put(w, "%c", close);
}

static size_t bytes_of(const struct tensor *t)
{
    size_t bytes;
    bool fits = tensor_bytes(t, &bytes);
    assert(fits);
    return bytes;
}

static void append(struct message *m, const void *bytes, size_t size)
{
    assert(m->size + size <= sizeof m->body);
    memcpy(m->body + m->size, bytes, size);
    m->size += size;
}

/* A file's header, and its length in front. */
static void append_header(struct message *m, const struct writer *w)
{
    uint64_t length = w->size;
    append(m, &length, sizeof length);
    append(m, w->text, w->size);
}

static size_t put_entry(struct writer *w, const char *name, const struct tensor *t, size_t offset)
{
    size_t end = offset + bytes_of(t);
    put(w, "\"%s\":{\"dtype\":\"%s\",\"shape\":", name, dtype_safetensors_name(t->dtype));
    put_shape(w, t, '[', ']');
    put(w, ",\"data_offsets\":[%zu,%zu]}", offset, end);
    return end;
}

void message_tensor(struct message *m, const struct tensor *t, bool is_raw)
{
    struct writer w = {.size = 0};
    message_header(m, "Content-Type: application/octet-stream");
    if (is_raw) {
        put(&w, "&datatype=%s&shape=", dtype_name(t->dtype));
        put_shape(&w, t, 0, 0);
        assert(strlen(m->path) + w.size < sizeof m->path);
        strcat(m->path, w.text);
    } else {
        put(&w, "{");
        put_entry(&w, "t", t, 0);
        put(&w, "}");
        append_header(m, &w);
    }
    append(m, t->data, bytes_of(t));
}

static void put_json_input(struct writer *w, const char *name, const struct tensor *t,
                           const char *reference)
{
    put(w, "%s{\"name\":\"%s\"", w->text[w->size - 1] == '[' ? "" : ",", name);
    if (reference) {
        put(w, ",\"parameters\":{\"tensor\":\"%s\"}}", reference);
        return;
    }
    put(w, ",\"datatype\":\"%s\",\"shape\":", dtype_name(t->dtype));
    put_shape(w, t, '[', ']');
    put(w, ",\"parameters\":{\"binary_data_size\":%zu}}", bytes_of(t));
}

static void write_json(struct message *m, const struct op *op, const struct tensor *inputs,
                       const char *const *references, const char *more)
{
    struct writer w = {.size = 0};
    put(&w, "{\"inputs\":[");
    for (int i = 0; i < op_inputs(op); i++)
        if (references[i] || inputs[i].dtype != DTYPE_NONE)
            put_json_input(&w, op->inputs[i], &inputs[i], references[i]);
    put(&w, "],\"parameters\":{\"binary_data_output\":true%s%s}}", *more ? "," : "", more);
    message_header(m, "Inference-Header-Content-Length: %zu", w.size);
    append(m, w.text, w.size);
}

static void write_file(struct message *m, const struct op *op, const struct tensor *inputs,
                       const char *more)
{
    struct writer w = {.size = 0};
    size_t offset = 0;
    put(&w, "{\"__metadata__\":{%s}", more);
    for (int i = 0; i < op_inputs(op); i++)
        if (inputs[i].dtype != DTYPE_NONE) {
            put(&w, ",");
            offset = put_entry(&w, op->inputs[i], &inputs[i], offset);
        }
    put(&w, "}");
    message_header(m, "Content-Type: application/vnd.safetensors");
    append_header(m, &w);
}

void message_inputs(struct message *m, const struct op *op, const struct tensor *inputs,
                    const char *const *references, const char *more, bool is_json)
{
    if (is_json)
        write_json(m, op, inputs, references, more);
    else
        write_file(m, op, inputs, more);
    for (int i = 0; i < op_inputs(op); i++)
        if (!references[i] && inputs[i].dtype != DTYPE_NONE)
            append(m, inputs[i].data, bytes_of(&inputs[i]));
}

struct call message_call(const struct message *m)
{
    struct call call = {.method = m->method, .path = m->path};
    for (int i = 0; i < m->header_count; i++)
        call.headers[i] = m->headers[i];
    if (m->size > 0) {
        call.body = m->body;
        call.size = m->size;
    }
    return call;
}

/* -------------------------------------------------------------------------------------- reading */

/* The value behind "name":, the last of that name. */
static const char *find(const char *text, size_t size, const char *name)
{
    const char *found = NULL;
    size_t length = strlen(name);
    for (const char *p = text; p + length < text + size; p++)
        if (memcmp(p, name, length) == 0)
            found = p + length;
    return found;
}

static enum dtype find_dtype(const char *head, size_t size)
{
    const char *v2 = find(head, size, "\"datatype\":\""), *file = find(head, size, "\"dtype\":\"");
    return v2     ? dtype_from_v2(v2, strcspn(v2, "\""))
           : file ? dtype_from_safetensors(file, strcspn(file, "\""))
                  : DTYPE_NONE;
}

static bool find_shape(const char *head, size_t size, struct tensor *t)
{
    const char *p = find(head, size, "\"shape\":[");
    if (!p)
        return false;
    for (t->rank = 0; *p != ']' && t->rank < RANK_MAX; p += *p == ',') {
        char *end;
        t->shape[t->rank++] = strtoll(p, &end, 10);
        p = end;
    }
    return *p == ']';
}

bool message_output(const struct answer *a, struct tensor *t)
{
    const char *type = answer_header(a, "Content-Type"), *head = a->body;
    size_t head_size, size, bytes;
    const char *data = answer_tensors(a, &size);
    *t = (struct tensor){.dtype = DTYPE_NONE};
    if (type && strstr(type, "safetensors") && a->size >= 8) {
        uint64_t length;
        memcpy(&length, a->body, sizeof length);
        if (length > a->size - 8)
            return false;
        head = a->body + 8;
        data = head + length;
        size = a->size - 8 - (size_t)length;
    }
    if (!data)
        return false;
    head_size = (size_t)(data - head);
    t->dtype = find_dtype(head, head_size);
    if (t->dtype == DTYPE_NONE || !find_shape(head, head_size, t) || !tensor_bytes(t, &bytes) ||
        bytes != size)
        return false;
    t->data = malloc(size + 1);
    memcpy(t->data, data, size);
    return true;
}
