#include "proto/answer/problem.h"

#include "proto/text.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

/* Codes that are not listed are the client's mistake: 400. */
static const short statuses[ERROR_CODE_COUNT] = {
    [ERROR_UNAUTHENTICATED] = 401,
    [ERROR_FORBIDDEN] = 403,
    [ERROR_NOT_FOUND] = 404,
    [ERROR_MODEL_NOT_FOUND] = 404,
    [ERROR_METHOD_NOT_ALLOWED] = 405,
    [ERROR_PAYLOAD_TOO_LARGE] = 413,
    [ERROR_OUTPUT_TOO_LARGE] = 413,
    [ERROR_UNSUPPORTED_ENCODING] = 415,
    [ERROR_EXPECTATION_FAILED] = 417,
    [ERROR_QUOTA_EXCEEDED] = 429,
    [ERROR_CANCELLED] = 499,
    [ERROR_INTERNAL] = 500,
    [ERROR_NOT_SUPPORTED] = 501,
    [ERROR_QUEUE_FULL] = 503,
    [ERROR_RESOURCE_EXHAUSTED] = 503,
    [ERROR_DRAINING] = 503,
    [ERROR_DEADLINE_EXCEEDED] = 504,
    [ERROR_TENSOR_NOT_FOUND] = 404,
    [ERROR_CONFLICT] = 409,
    [ERROR_PRECONDITION_FAILED] = 412,
    [ERROR_IDEMPOTENCY_KEY_REUSED] = 422,
    [ERROR_TENSOR_MEMORY_FULL] = 507,
    [ERROR_TENSOR_FILE_FAILED] = 507,
};

int problem_status(enum error_code code)
{
    assert(code > ERROR_NONE && code < ERROR_CODE_COUNT);
    return statuses[code] ? statuses[code] : 400;
}

bool problem_retry(enum error_code code)
{
    int status = problem_status(code);
    return status == 409 || status == 429 || status == 503;
}

/* "CODE: sentence" as a JSON string. */
static void put_error(struct text *t, const struct error *error)
{
    char sentence[ERROR_MESSAGE_MAX + 64];
    struct text line;
    text_init(&line, sentence, sizeof(sentence));
    text_printf(&line, "%s: %s", error_name(error->code), error->message);
    text_json(t, line.data, line.size);
}

/* Words of codes that are not plain English. */
static const struct {
    const char *word, *readable;
} words[] = {
    {"JSON", "JSON"},
    {"UTF8", "UTF-8"},
    {"DTYPE", "datatype"},
    {"NONFINITE", "Non-finite"},
};

static const char *readable(const char *word, size_t size)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i].word) == size && memcmp(words[i].word, word, size) == 0)
            return words[i].readable;
    return NULL;
}

/* "Index out of bounds": the code itself, readable. */
static void put_title(struct text *t, enum error_code code)
{
    const char *word = error_name(code), *separator = "\"";
    for (size_t size; *word; word += size + (word[size] == '_')) {
        size = strcspn(word, "_");
        const char *said = readable(word, size);
        text_puts(t, separator);
        if (said)
            text_puts(t, said);
        for (size_t i = 0; !said && i < size; i++)
            text_printf(t, "%c", *separator == '"' && i == 0 ? word[i] : tolower(word[i]));
        separator = " ";
    }
    text_puts(t, "\"");
}

/* Most readers hold JSON numbers in doubles, which are exact up to 2^53. */
static void put_int64(struct text *t, int64_t value)
{
    const int64_t exact = INT64_C(1) << 53;
    bool quoted = value > exact || value < -exact;
    text_puts(t, quoted ? "\"" : "");
    text_int(t, value);
    text_puts(t, quoted ? "\"" : "");
}

static void put_int64_list(struct text *t, const char *name, const int64_t *values, int count)
{
    text_printf(t, ",\"%s\":[", name);
    for (int i = 0; i < count; i++) {
        text_puts(t, i > 0 ? "," : "");
        put_int64(t, values[i]);
    }
    text_puts(t, "]");
}

static void put_fault(struct text *t, const struct error *error, const struct fault *fault)
{
    text_puts(t, "{\"input\":");
    if (error->input)
        text_json(t, error->input, strlen(error->input));
    else
        text_puts(t, "null");
    put_int64_list(t, "position", fault->position, fault->position_rank);
    if (fault->axis >= 0 && fault->axis < fault->index_rank) {
        text_printf(t, ",\"axis\":%d,\"value\":", fault->axis);
        put_int64(t, fault->index[fault->axis]);
    }
    if (fault->index_rank > 0)
        put_int64_list(t, "index", fault->index, fault->index_rank);
    if (error->bound_rank > 0)
        put_int64_list(t, "bound", error->bound, error->bound_rank);
    text_puts(t, "}");
}

static bool is_uuid(const char *id)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    for (size_t i = 0; i < sizeof(form) - 1; i++)
        if (form[i] == '-' ? id[i] != '-' : !isxdigit((unsigned char)id[i]))
            return false;
    return id[sizeof(form) - 1] == '\0';
}

static void put_instance(struct text *t, const char *instance)
{
    char uri[PROBLEM_INSTANCE_MAX + 16];
    struct text line;
    text_init(&line, uri, sizeof(uri));
    text_puts(&line, is_uuid(instance) ? "urn:uuid:" : "");
    text_puts(&line, instance);
    text_puts(t, ",\"instance\":");
    text_json(t, line.data, line.size);
}

static void put_document(struct text *t, const struct error *error, const char *instance)
{
    const char *code = error_name(error->code);
    text_printf(t, "{\"type\":\"urn:tensord:error:%s\",\"title\":", code);
    put_title(t, error->code);
    text_printf(t, ",\"status\":%d,\"detail\":", problem_status(error->code));
    text_json(t, error->message, strlen(error->message));
    if (instance)
        put_instance(t, instance);
    text_puts(t, ",\"error\":");
    put_error(t, error);
    text_printf(t, ",\"code\":\"%s\"", code);
    if (error->fault_count > 0) {
        text_puts(t, ",\"errors\":[");
        for (int i = 0; i < error->fault_count; i++) {
            text_puts(t, i > 0 ? "," : "");
            put_fault(t, error, &error->faults[i]);
        }
        text_puts(t, "]");
    }
    if (error->invalid_count > 0) {
        text_puts(t, ",\"invalid_count\":");
        put_int64(t, error->invalid_count);
    }
    text_puts(t, "}");
}

size_t problem_print(char *text, const struct error *error, bool document, const char *instance)
{
    struct text t;
    text_init(&t, text, PROBLEM_TEXT_MAX);
    if (document) {
        put_document(&t, error, instance);
    } else {
        text_puts(&t, "{\"error\":");
        put_error(&t, error);
        text_puts(&t, "}");
    }
    text_puts(&t, "\n");
    assert(!t.cut);
    return t.size;
}
