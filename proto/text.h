/* text: small texts (answers' heads, errors, logs, metrics), written into a buffer of the
 * caller's. */
#ifndef PROTO_TEXT_H
#define PROTO_TEXT_H

#include "kernels/dtype.h"
#include "kernels/error.h"
#include "kernels/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Appends never write past `capacity`; when something did not fit `cut` turns true and stays so.
 * `data` is always NUL-terminated (capacity >= 1). */
struct text {
    char *data;
    size_t size, capacity;
    bool cut;
};

void text_init(struct text *t, char *buffer, size_t capacity);
void text_printf(struct text *t, const char *format, ...) PRINTF_LIKE(2, 3);
void text_int(struct text *t, int64_t value);

/* Writes the number without a NUL, in at most TEXT_INT_MAX bytes; returns its end. */
enum { TEXT_INT_MAX = 20 };
char *text_put_int(char *to, int64_t value);

/* Appends the value in hexadecimal, with zeros in front up to `width` digits, at most 16. */
void text_hex(struct text *t, uint64_t value, int width);

static inline void text_put(struct text *t, const char *bytes, size_t size)
{
    size_t room = t->capacity - 1 - t->size;
    if (size > room) {
        size = room;
        t->cut = true;
    }
    memcpy(t->data + t->size, bytes, size);
    t->size += size;
    t->data[t->size] = '\0';
}

static inline void text_puts(struct text *t, const char *string)
{
    text_put(t, string, strlen(string));
}

/* A NUL in a C string, as modified UTF-8 writes it. It is not UTF-8. */
#define TEXT_NUL "\xC0\x80"

/* A JSON string with its quotes: escapes what must be; TEXT_NUL becomes \u0000, and other bytes
 * that are not UTF-8 U+FFFD. */
void text_json(struct text *t, const char *string, size_t size);

/* "[2,3]": the dimensions of a tensor. */
void text_shape(struct text *t, const struct tensor *tensor);

/* Spaces, until what was appended since size was `start` is a multiple of `multiple`, at most
 * 64. */
void text_pad(struct text *t, size_t start, size_t multiple);

/* The names of a set of element types, without types for which `name` is NULL: "INT32, INT64". */
void text_dtypes(struct text *t, dtype_set set, const char *(*name)(enum dtype));

/* JSON written with ' for ", so that it can be read in a C source. */
void text_quoted(struct text *t, const char *json);

#endif
