#include "proto/request/guise.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    LOOK_BYTES = 512,
    SAFETENSORS_LENGTH_BYTES = 8 /* in front of a safetensors file's header */
};

struct body {
    const char *data;
    size_t size; /* at most LOOK_BYTES of `whole` */
    size_t whole;
};

static bool starts(const struct body *b, const char *with, size_t size)
{
    return b->size >= size && memcmp(b->data, with, size) == 0;
}

static bool has(const struct body *b, const char *word)
{
    return memmem(b->data, b->size, word, strlen(word)) != NULL;
}

static size_t space(const struct body *b)
{
    size_t size = 0;
    while (size < b->size && strchr(" \t\r\n", b->data[size]) && b->data[size])
        size++;
    return size;
}

static char first(const struct body *b)
{
    size_t at = space(b);
    return at < b->size ? b->data[at] : '\0';
}

static bool is_form(const struct body *b)
{
    return starts(b, "--", 2) && has(b, "Content-Disposition");
}

static bool is_fields(const struct body *b)
{
    size_t name = 0;
    while (name < b->size && (strchr("_-.[]%", b->data[name])
                                  ? b->data[name] != '\0'
                                  : (b->data[name] | 0x20) >= 'a' && (b->data[name] | 0x20) <= 'z'))
        name++;
    return name > 0 && name < b->size && b->data[name] == '=';
}

static bool is_markup(const struct body *b)
{
    return first(b) == '<';
}

static bool is_yaml(const struct body *b)
{
    return starts(b, "---", 3);
}

/* RFC 1950: a window of 32 KiB, and a check that makes both bytes a multiple of 31. */
static bool is_deflate(const struct body *b)
{
    return b->size >= 2 && b->data[0] == 0x78 && (0x7800 | (unsigned char)b->data[1]) % 31 == 0;
}

static bool is_safetensors(const struct body *b)
{
    uint64_t length = 0;
    if (b->size <= SAFETENSORS_LENGTH_BYTES || b->data[SAFETENSORS_LENGTH_BYTES] != '{')
        return false;
    memcpy(&length, b->data, sizeof(length));
    return length <= b->whole - SAFETENSORS_LENGTH_BYTES;
}

static bool is_wide(const struct body *b)
{
    return starts(b, "\xFF\xFE", 2) || starts(b, "\xFE\xFF", 2) || starts(b, "{\0", 2) ||
           starts(b, "\0{", 2);
}

static bool is_python(const struct body *b)
{
    size_t at = space(b);
    return first(b) == '{' && at + 1 < b->size && b->data[at + 1] == '\'';
}

static bool is_json(const struct body *b)
{
    return first(b) == '{';
}

#define BINARY "send safetensors, or JSON with the raw elements behind it"

/* The first row that fits is taken: by its first bytes, or by its function. */
static const struct {
    const char *magic;
    size_t size;
    bool (*is)(const struct body *b);
    struct guise guise;
} guises[] = {
#define MAGIC(bytes) bytes, sizeof(bytes) - 1, NULL
#define LIKE(is)     NULL, 0, is
    {MAGIC("\x1F\x8B"), {GUISE_PACKED, "gzip", "if it is, send the header Content-Encoding: gzip"}},
    {LIKE(is_deflate),
     {GUISE_PACKED, "deflate", "if it is, send the header Content-Encoding: deflate"}},
    {MAGIC("\x28\xB5\x2F\xFD"),
     {GUISE_OTHER, "Zstandard",
      "Content-Encoding may be gzip or deflate, with the header that says so"}},
    {LIKE(is_safetensors),
     {GUISE_OTHER, "a safetensors file",
      "if it is, send the header Content-Type: application/vnd.safetensors"}},
    {MAGIC("\x93NUMPY"), {GUISE_OTHER, "a NumPy file", BINARY}},
    {MAGIC("PK\x03\x04"), {GUISE_OTHER, "a ZIP file, as .npz is", BINARY}},
    {MAGIC("\x80\x04"), {GUISE_OTHER, "a Python pickle", BINARY}},
    {MAGIC("\xEF\xBB\xBF"),
     {GUISE_OTHER, "text with a byte order mark", "JSON is sent without it"}},
    {LIKE(is_wide), {GUISE_OTHER, "UTF-16", "JSON is sent as UTF-8"}},
    {LIKE(is_form),
     {GUISE_OTHER, "a multipart form",
      "send the request itself as the body, as curl -d or --data-binary do"}},
    {LIKE(is_fields),
     {GUISE_OTHER, "a URL-encoded form",
      "send the request as JSON, e.g. json=, not data=, in "
      "Python's requests"}},
    {LIKE(is_yaml), {GUISE_OTHER, "YAML", "send the request as JSON"}},
    {LIKE(is_markup), {GUISE_OTHER, "HTML or XML", "send the request as JSON"}},
    {LIKE(is_python), {GUISE_OTHER, "a Python dictionary", "send what json.dumps makes of it"}},
    {LIKE(is_json),
     {GUISE_JSON, "JSON",
      "if it is, send the header Content-Type: application/json and no "
      "Content-Encoding"}},
#undef MAGIC
#undef LIKE
};

struct guise guise_of(const char *body, size_t size)
{
    struct body b = {body, size < LOOK_BYTES ? size : LOOK_BYTES, size};
    for (size_t i = 0; i < sizeof(guises) / sizeof(guises[0]); i++)
        if (guises[i].is ? guises[i].is(&b) : starts(&b, guises[i].magic, guises[i].size))
            return guises[i].guise;
    return (struct guise){GUISE_NONE, NULL, NULL};
}

/* Whether a JSON value, blanks before it, or a bare NaN, Infinity or None could begin so. */
static bool may_be_json(const char *body, size_t size)
{
    struct body b = {body, size < LOOK_BYTES ? size : LOOK_BYTES, size};
    return space(&b) == b.size || strchr("{[\"-+.0123456789tfnNI", first(&b));
}

static enum error_code like_nothing(const char *body, size_t size, struct error *error)
{
    struct body b = {body, size, size};
    unsigned char byte = (unsigned char)first(&b);
    char shown[8];
    snprintf(shown, sizeof(shown), byte > ' ' && byte < 0x7f ? "'%c'" : "0x%02x", byte);
    return error_set(error, ERROR_INVALID_JSON, NULL,
                     "the body is not JSON, it begins with %s; send the request as JSON, or as a "
                     "safetensors file with the header Content-Type: application/vnd.safetensors",
                     shown);
}

enum error_code guise_explain(const char *body, size_t size, int64_t header_length,
                              struct error *error)
{
    static const char announced[] = "binary_data_size";
    struct guise guise = guise_of(body, size);
    char said[ERROR_MESSAGE_MAX];
    if (size == 0)
        return error_set(error, ERROR_INVALID_JSON, NULL,
                         "the body is empty; expected a JSON object");
    if (guise.kind != GUISE_NONE && guise.kind != GUISE_JSON)
        return error_set(error, ERROR_INVALID_JSON, NULL,
                         "the body is not JSON but looks like %s; %s", guise.looks, guise.advice);
    memcpy(said, error->message, sizeof(said));
    if (header_length >= 0)
        return error_set(error, error->code, error->input,
                         "%s (Inference-Header-Content-Length says that the JSON is the first "
                         "%" PRId64 " of the body's %zu bytes)",
                         said, header_length, size);
    if (!may_be_json(body, size))
        return like_nothing(body, size, error);
    if (memmem(body, size, announced, sizeof(announced) - 1))
        return error_set(error, error->code, error->input,
                         "%s (without the header Inference-Header-Content-Length all of the body "
                         "is JSON)",
                         said);
    return error->code;
}
