#include "server/http/headers.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    size_t size;
} names[] = {
#define X(ID, NAME) {NAME, sizeof NAME - 1},
    HEADER_TABLE(X)
#undef X
};

void headers_add(struct headers *headers, const char *name, const char *value)
{
    size_t size = strlen(name);
    if (strcspn(name, " \t") != size)
        headers->blank_in_name = true;
    for (int i = 0; i < HEADER_COUNT; i++) {
        if (names[i].size != size || strcasecmp(names[i].name, name) != 0)
            continue;
        if (headers->count[i] == 0)
            headers->value[i] = value ? value : "";
        if (headers->count[i] < UINT8_MAX)
            headers->count[i]++;
        return;
    }
}

static enum error_code check_once(const struct headers *headers, enum header header,
                                  struct error *error)
{
    if (headers->count[header] <= 1)
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_HEADER, NULL, "%s came %d times, it may come once",
                     names[header].name, headers->count[header]);
}

static enum error_code parse_length(const char *text, int64_t *length, struct error *error)
{
    int64_t value = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *p - '0', &value))
            return error_set(error, ERROR_PAYLOAD_TOO_LARGE, NULL,
                             "Content-Length %.40s is beyond any limit", text);
    if (p == text || *p)
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "Content-Length is '%.40s', expected are digits only", text);
    *length = value;
    return ERROR_NONE;
}

static enum error_code check_framing(const struct headers *headers, struct framing *framing,
                                     struct error *error)
{
    const char *length = headers->value[HEADER_CONTENT_LENGTH];
    const char *coding = headers->value[HEADER_TRANSFER_ENCODING];
    if (headers->blank_in_name)
        return error_set(error, ERROR_INVALID_HEADER, NULL, "a header's name holds a blank");
    if (check_once(headers, HEADER_CONTENT_LENGTH, error) ||
        check_once(headers, HEADER_TRANSFER_ENCODING, error))
        return error->code;
    if (length && coding)
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "Content-Length and Transfer-Encoding exclude each other");
    if (coding && strcasecmp(coding, "chunked") != 0)
        return error_set(error, ERROR_NOT_SUPPORTED, NULL,
                         "Transfer-Encoding is '%.40s', supported is chunked", coding);
    framing->length = coding ? -1 : 0;
    return length ? parse_length(length, &framing->length, error) : ERROR_NONE;
}

static enum error_code check_host(const struct headers *headers, const char *version,
                                  struct error *error)
{
    if (strcmp(version, "HTTP/1.1") == 0 && headers->count[HEADER_HOST] == 0)
        return error_set(error, ERROR_INVALID_HEADER, NULL, "Host is missing");
    return check_once(headers, HEADER_HOST, error);
}

static enum error_code check_expect(const struct headers *headers, struct framing *framing,
                                    struct error *error)
{
    const char *expect = headers->value[HEADER_EXPECT];
    framing->expects_continue = expect && strcasecmp(expect, "100-continue") == 0;
    if (!expect || framing->expects_continue)
        return ERROR_NONE;
    return error_set(error, ERROR_EXPECTATION_FAILED, NULL,
                     "Expect is '%.40s', supported is 100-continue", expect);
}

static enum error_code check_url(const char *url, struct error *error)
{
    for (const unsigned char *p = (const unsigned char *)url; *p; p++)
        if (*p <= ' ' || *p == 0x7f)
            return error_set(error, ERROR_INVALID_HEADER, NULL,
                             "the URL holds a blank or a control character at byte %td",
                             (const char *)p - url);
    return ERROR_NONE;
}

enum error_code headers_check(const struct headers *headers, const char *version, const char *url,
                              struct framing *framing, bool *is_sound, struct error *error)
{
    *framing = (struct framing){0};
    *is_sound = check_framing(headers, framing, error) == ERROR_NONE &&
                check_host(headers, version, error) == ERROR_NONE &&
                check_url(url, error) == ERROR_NONE;
    if (!*is_sound || check_once(headers, HEADER_INFERENCE_HEADER_CONTENT_LENGTH, error) ||
        check_expect(headers, framing, error))
        return error->code;
    return ERROR_NONE;
}
