#include "server/http/headers.h"

#include "proto/number/digits.h"
#include "server/http/host.h"

#include <string.h>
#include <strings.h>

enum lines { LIST, ONCE, ALONE };

static const struct {
    const char *name;
    size_t size;
    enum lines lines;
} table[] = {
#define X(ID, NAME, LINES) {NAME, sizeof NAME - 1, LINES},
    HEADER_TABLE(X)
#undef X
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* tchar of RFC 9110, 5.6.2. */
static bool is_token(const char *text, size_t size)
{
    static const bool is_tchar[256] = {
        ['!'] = true,         ['#' ... '\''] = true, ['*'] = true,         ['+'] = true,
        ['-'] = true,         ['.'] = true,          ['0' ... '9'] = true, ['A' ... 'Z'] = true,
        ['^' ... 'z'] = true, ['|'] = true,          ['~'] = true,
    };
    bool is = size > 0;
    for (size_t i = 0; i < size; i++)
        is &= is_tchar[(unsigned char)text[i]];
    return is;
}

static char *copy(struct headers *headers, size_t size)
{
    char *text = headers->memory ? headers->memory->get(headers->memory, size + 1) : NULL;
    if (text)
        text[size] = '\0';
    return text;
}

/* Blanks around a value are no part of it (RFC 9110, 5.5). The HTTP library took those in front. */
static const char *trim(struct headers *headers, const char *value, size_t size)
{
    size_t kept = size;
    while (kept > 0 && is_blank(value[kept - 1]))
        kept--;
    char *text = kept < size ? copy(headers, kept) : NULL;
    return text ? memcpy(text, value, kept) : value;
}

static const char *join(struct headers *headers, const char *before, const char *value)
{
    size_t first = strlen(before), second = strlen(value);
    char *text = copy(headers, first + 2 + second);
    if (!text)
        return before;
    memcpy(text, before, first);
    memcpy(text + first, ", ", 2);
    memcpy(text + first + 2, value, second);
    return text;
}

static void keep(struct headers *headers, enum header header, const char *value, size_t size)
{
    const char **kept = &headers->value[header];
    /* libmicrohttpd reads these two itself, with the blanks: a value that it did not understand
     * must not look right here. */
    bool is_framing = header == HEADER_CONTENT_LENGTH || header == HEADER_TRANSFER_ENCODING;
    if (!is_framing)
        value = trim(headers, value, size);
    if (headers->count[header] == 0)
        *kept = value;
    else if (table[header].lines == LIST)
        *kept = join(headers, *kept, value);
    else if (table[header].lines == ALONE)
        *kept = "";
    if (headers->count[header] < UINT8_MAX)
        headers->count[header]++;
}

/* Names of one length mostly differ in their first letter. */
static bool begin_alike(const char *a, const char *b)
{
    return ((a[0] ^ b[0]) & ~0x20) == 0;
}

void headers_add(struct headers *headers, const char *name, size_t name_size, const char *value,
                 size_t value_size)
{
    if (!is_token(name, name_size))
        headers->fault = "the name of a header is no token"; /* RFC 9110, 5.1 */
    if (memchr(value, '\r', value_size))
        headers->fault = "a header's value holds a CR"; /* RFC 9110, 5.5 */
    for (int i = 0; i < HEADER_COUNT; i++) {
        if (table[i].size != name_size || !begin_alike(table[i].name, name) ||
            strncasecmp(table[i].name, name, name_size) != 0)
            continue;
        keep(headers, (enum header)i, value, value_size);
        return;
    }
}

static enum error_code refuse(struct error *error, const char *why)
{
    return error_set(error, ERROR_INVALID_HEADER, NULL, "%s", why);
}

static enum error_code check_once(const struct headers *headers, enum header header,
                                  struct error *error)
{
    if (headers->count[header] <= 1)
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_HEADER, NULL, "%s came %d times, it may come once",
                     table[header].name, headers->count[header]);
}

static enum error_code check_all_once(const struct headers *headers, struct error *error)
{
    for (int i = 0; i < HEADER_COUNT; i++)
        if (table[i].lines == ONCE && check_once(headers, (enum header)i, error))
            return error->code;
    return ERROR_NONE;
}

static enum error_code parse_length(const char *text, int64_t *length, struct error *error)
{
    uint64_t value;
    if (!*text || text[strspn(text, "0123456789")])
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "Content-Length is '%.40s', expected are digits only", text);
    if (!digits_read(text, INT64_MAX, &value))
        return error_set(error, ERROR_PAYLOAD_TOO_LARGE, NULL,
                         "Content-Length %.40s is beyond any limit", text);
    *length = (int64_t)value;
    return ERROR_NONE;
}

static enum error_code check_coding(const char *coding, const char *version, struct error *error)
{
    if (strcmp(version, "HTTP/1.0") == 0) /* RFC 9112, 6.1: faulty framing */
        return refuse(error, "Transfer-Encoding needs HTTP/1.1");
    if (strcasecmp(coding, "chunked") == 0)
        return ERROR_NONE;
    return error_set(error, ERROR_NOT_SUPPORTED, NULL,
                     "Transfer-Encoding is '%.40s', supported is chunked, with no blank behind it",
                     coding);
}

static enum error_code check_framing(const struct headers *headers, const char *version,
                                     struct framing *framing, struct error *error)
{
    const char *length = headers->value[HEADER_CONTENT_LENGTH];
    const char *coding = headers->value[HEADER_TRANSFER_ENCODING];
    if (headers->fault)
        return refuse(error, headers->fault);
    if (check_once(headers, HEADER_CONTENT_LENGTH, error) ||
        check_once(headers, HEADER_TRANSFER_ENCODING, error))
        return error->code;
    if (length && coding) /* RFC 9112, 6.3 */
        return refuse(error, "Content-Length and Transfer-Encoding exclude each other");
    framing->length = coding ? -1 : 0;
    if (coding)
        return check_coding(coding, version, error);
    return length ? parse_length(length, &framing->length, error) : ERROR_NONE;
}

/* RFC 9112, 3.2. */
static enum error_code check_host(const struct headers *headers, const char *version,
                                  struct error *error)
{
    const char *host = headers->value[HEADER_HOST];
    if (!host && strcmp(version, "HTTP/1.0") != 0)
        return refuse(error, "Host is missing");
    if (check_once(headers, HEADER_HOST, error))
        return error->code;
    if (!host || host_is_valid(host))
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_HEADER, NULL,
                     "Host is '%.80s', expected is a name or an address, and a port or none", host);
}

/* A list of nothing but 100-continue counts as one (RFC 9110, 10.1.1). */
static enum error_code check_expect(const struct headers *headers, struct framing *framing,
                                    struct error *error)
{
    static const char known[] = "100-continue";
    const char *expect = headers->value[HEADER_EXPECT];
    const char *p = expect;
    while (p && strncasecmp(p, known, sizeof known - 1) == 0) {
        p += sizeof known - 1;
        framing->expects_continue = true;
        p += strspn(p, ", \t");
    }
    if (!p || (framing->expects_continue && !*p))
        return ERROR_NONE;
    return error_set(error, ERROR_EXPECTATION_FAILED, NULL,
                     "Expect is '%.40s', supported is 100-continue", expect);
}

static enum error_code check_target(const char *target, struct error *error)
{
    for (const unsigned char *p = (const unsigned char *)target; *p; p++)
        if (*p <= ' ' || *p == 0x7f)
            return error_set(error, ERROR_INVALID_HEADER, NULL,
                             "the URL holds a blank or a control character at byte %td",
                             (const char *)p - target);
    return ERROR_NONE;
}

/* A method that HTTP has gets 405 where a path lacks it, any other 501 (RFC 9110, 9.1). */
static bool is_known(const char *method)
{
    static const char *const known[] = {"GET",    "POST",  "HEAD",  "OPTIONS", "PUT",
                                        "DELETE", "PATCH", "QUERY", "TRACE",   "CONNECT"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], method) == 0)
            return true;
    return false;
}

enum error_code headers_check(const struct headers *headers, const struct request_line *line,
                              struct framing *framing, bool *is_sound, struct error *error)
{
    *framing = (struct framing){0};
    *is_sound = check_framing(headers, line->version, framing, error) == ERROR_NONE &&
                check_host(headers, line->version, error) == ERROR_NONE &&
                check_target(line->target, error) == ERROR_NONE;
    if (!*is_sound)
        return error->code;
    if (!is_known(line->method))
        return error_set(error, ERROR_NOT_SUPPORTED, NULL, "there is no method %.40s here",
                         line->method);
    if (check_all_once(headers, error) || check_expect(headers, framing, error))
        return error->code;
    return ERROR_NONE;
}
