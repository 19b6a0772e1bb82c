#include "proto/request/head.h"

#include "proto/number/digits.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* A piece of a header's value, not terminated. */
struct word {
    const char *text;
    size_t size;
};

/* The name that answers carry, and the other names under which the format travels (none is
 * registered). The first is the canonical one. */
static const char *const safetensors_types[] = {
    "application/vnd.safetensors",
    "application/safetensors",
    "application/x-safetensors",
};

static const struct {
    const char *name;
    enum coding coding;
} codings[] = {
    {"", CODING_IDENTITY},   {"identity", CODING_IDENTITY}, {"gzip", CODING_GZIP},
    {"x-gzip", CODING_GZIP}, {"deflate", CODING_DEFLATE},
};

static struct word trim(struct word w)
{
    while (w.size > 0 && strchr(" \t", w.text[0])) {
        w.text++;
        w.size--;
    }
    while (w.size > 0 && strchr(" \t", w.text[w.size - 1]))
        w.size--;
    return w;
}

static bool word_is(struct word w, const char *name)
{
    return strlen(name) == w.size && strncasecmp(w.text, name, w.size) == 0;
}

/* Cuts the next piece off at `separator`; false when nothing is left. */
static bool next_word(const char **rest, char separator, struct word *w)
{
    if (!*rest)
        return false;
    const char *end = strchr(*rest, separator);
    w->text = *rest;
    w->size = end ? (size_t)(end - *rest) : strlen(*rest);
    *rest = end ? end + 1 : NULL;
    *w = trim(*w);
    return true;
}

static struct word before(struct word w, char separator)
{
    const char *end = memchr(w.text, separator, w.size);
    if (end)
        w.size = (size_t)(end - w.text);
    return trim(w);
}

/* Whether a parameter says q=0: "not this one" (RFC 9110, 12.4.2). */
static bool is_refused(struct word range)
{
    for (size_t i = 0; i < range.size; i++) {
        if (range.text[i] != ';')
            continue;
        struct word q = trim((struct word){range.text + i + 1, range.size - i - 1});
        if (q.size < 3 || strncasecmp(q.text, "q=0", 3) != 0)
            continue;
        size_t zeros = 3 + strspn(q.text + 3, ".0");
        return zeros >= q.size || strchr("; \t", q.text[zeros]);
    }
    return false;
}

static const char *safetensors_type(struct word type)
{
    for (size_t i = 0; i < sizeof(safetensors_types) / sizeof(safetensors_types[0]); i++)
        if (word_is(type, safetensors_types[i]))
            return safetensors_types[i];
    return NULL;
}

/* The first type of ours that Accept lists decides, whatever the weights of the others. */
static void read_accept(struct head *head, const char *accept)
{
    struct word range;
    while (next_word(&accept, ',', &range)) {
        struct word type = before(range, ';');
        const char *safetensors = safetensors_type(type);
        enum encoding known = word_is(type, "application/json")           ? ENCODING_JSON
                              : word_is(type, "application/octet-stream") ? ENCODING_BINARY
                              : safetensors                               ? ENCODING_SAFETENSORS
                                                                          : ENCODING_COUNT;
        if (is_refused(range))
            continue;
        if (word_is(type, "application/problem+json"))
            head->problem_json = true;
        if (known == ENCODING_COUNT || head->accepted != ENCODING_COUNT)
            continue;
        head->accepted = known;
        if (safetensors)
            head->safetensors_type = safetensors;
    }
}

static bool coding_of(struct word name, enum coding *coding)
{
    for (size_t i = 0; i < sizeof(codings) / sizeof(codings[0]); i++)
        if (word_is(name, codings[i].name)) {
            *coding = codings[i].coding;
            return true;
        }
    return false;
}

/* Reads Content-Encoding, a list (RFC 9110, 8.4) with at most one coding other than identity. */
static enum error_code read_coding(struct head *head, const char *value, struct error *error)
{
    const char *rest = value;
    struct word name;
    enum coding coding = CODING_IDENTITY;
    bool good = true;
    while (next_word(&rest, ',', &name)) {
        good = good && coding_of(name, &coding) &&
               (coding == CODING_IDENTITY || head->coding == CODING_IDENTITY);
        if (good && coding != CODING_IDENTITY)
            head->coding = coding;
    }
    if (good)
        return ERROR_NONE;
    return error_set(error, ERROR_UNSUPPORTED_ENCODING, NULL,
                     "Content-Encoding is '%.64s', expected gzip, deflate or none", value);
}

/* Reads a length of digits only: a sign, a blank inside, a fraction and a number that no body can
 * reach are refused. */
static enum error_code read_length(struct head *head, const char *value, struct error *error)
{
    struct word digits = trim((struct word){value, strlen(value)});
    uint64_t length;
    const char *end = digits_read(digits.text, INT64_MAX, &length);
    if (end != digits.text + digits.size || length == 0)
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "Inference-Header-Content-Length is '%.64s', expected the size of the "
                         "JSON in bytes, from 1 to the size of the body",
                         value);
    if (head->body == ENCODING_SAFETENSORS)
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "Inference-Header-Content-Length is '%.64s', but the Content-Type says "
                         "that the body is a safetensors file, which has no such length",
                         value);
    head->header_length = (int64_t)length;
    head->body = ENCODING_BINARY;
    return ERROR_NONE;
}

enum error_code head_parse(struct head *head, const char *content_type, const char *header_length,
                           const char *content_encoding, const char *accept, struct error *error)
{
    *head = (struct head){.body = ENCODING_JSON,
                          .header_length = -1,
                          .accepted = ENCODING_COUNT,
                          .safetensors_type = safetensors_types[0]};
    if (content_type) {
        struct word type = {content_type, strlen(content_type)};
        const char *safetensors = safetensors_type(before(type, ';'));
        if (safetensors) {
            head->body = ENCODING_SAFETENSORS;
            head->safetensors_type = safetensors;
        }
    }
    read_accept(head, accept);
    if (content_encoding) {
        enum error_code code = read_coding(head, content_encoding, error);
        if (code)
            return code;
    }
    return header_length ? read_length(head, header_length, error) : ERROR_NONE;
}
