/* The head of an HTTP request as the HTTP library hands it over: lines "METHOD", "URL", "VERSION",
 * then "Name: value" each. */
#include "server/http/headers.h"
#include "server/http/request_id.h"
#include "server/http/route.h"
#include "server/http/trace.h"
#include "server/net/forwarded.h"

#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Cuts the first line off, "" when there is none left. */
static char *take_line(char **rest)
{
    char *line = *rest, *end = strchr(line, '\n');

    *rest = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return line;
}

static void collect(struct headers *headers, char *rest)
{
    while (*rest) {
        char *name = take_line(&rest), *colon = strchr(name, ':');

        if (colon)
            *colon = '\0';
        const char *value = colon ? colon + 1 + strspn(colon + 1, " ") : "";

        headers_add(headers, name, strlen(name), value, strlen(value));
    }
}

static void check_accepted(const struct headers *h, const struct framing *framing)
{
    const char *length = h->value[HEADER_CONTENT_LENGTH];

    FUZZ_CHECK(h->count[HEADER_CONTENT_LENGTH] + h->count[HEADER_TRANSFER_ENCODING] <= 1);
    FUZZ_CHECK(h->count[HEADER_HOST] <= 1);
    FUZZ_CHECK(!h->fault);
    if (length)
        FUZZ_CHECK(*length && strspn(length, "0123456789") == strlen(length) &&
                   framing->length == strtoll(length, NULL, 10));
    else
        FUZZ_CHECK(framing->length == (h->count[HEADER_TRANSFER_ENCODING] ? -1 : 0));
}

static void check_route(const char *method, const char *url)
{
    struct route_match match;
    struct error error;

    if (route_find(&match, method, url, &error) != ERROR_NONE)
        fuzz_error(&error);
    else
        FUZZ_CHECK(method_parse(method) == METHOD_OPTIONS ||
                   (match.route && (!match.segments[SEGMENT_OP].text || match.op_name.op)));
}

static void check_id(struct request_ids *ids, const char *given)
{
    char id[REQUEST_ID_TEXT_MAX];

    request_id_choose(ids, given, id);
    FUZZ_CHECK(*id);
    for (const char *p = id; *p; p++)
        FUZZ_CHECK(*p >= '!' && *p <= '~');
}

/* An id of so many hexadecimal digits, or none. */
static bool is_hex_id(const char *id, size_t size)
{
    return strlen(id) == (*id ? size : 0) && strspn(id, "0123456789abcdef") == strlen(id);
}

static void check_trace(struct request_ids *ids, const char *traceparent)
{
    struct trace trace;

    trace_read(&trace, traceparent, ids);
    FUZZ_CHECK(is_hex_id(trace.trace_id, TRACE_ID_MAX - 1));
    FUZZ_CHECK(is_hex_id(trace.span_id, SPAN_ID_MAX - 1));
    FUZZ_CHECK(is_hex_id(trace.parent_id, SPAN_ID_MAX - 1));
    FUZZ_CHECK(!traceparent == !*trace.trace_id);
}

/* Behind a trusted proxy the client is somebody, and no trusted one but the proxy itself. */
static void check_forwarded(const char *value)
{
    static const struct networks trusted = {.list = {{.bits = 8}}, .count = 1};
    const struct address peer = {.is_known = true};
    char text[ADDRESS_TEXT_MAX];
    struct forwarded forwarded;

    forwarded_init(&forwarded, &trusted, &peer);
    forwarded_add(&forwarded, value);
    FUZZ_CHECK(!networks_hold(&trusted, &forwarded.client) ||
               memcmp(&forwarded.client, &peer, sizeof(peer)) == 0);
    address_print(&forwarded.client, text);
    address_print_client(&forwarded.client, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct headers headers = {0};
    struct request_ids ids = {.state = 1};
    struct framing framing;
    struct error error;
    bool sure;
    char *text = malloc(size + 1), *rest = text;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    char *method = take_line(&rest), *url = take_line(&rest), *version = take_line(&rest);
    collect(&headers, rest);
    const struct request_line line = {method, url, version};
    if (headers_check(&headers, &line, &framing, &sure, &error) == ERROR_NONE) {
        FUZZ_CHECK(sure);
        check_accepted(&headers, &framing);
        check_route(method, url);
    } else {
        fuzz_error(&error);
    }
    check_id(&ids, headers.value[HEADER_REQUEST_ID]);
    check_trace(&ids, headers.value[HEADER_TRACEPARENT]);
    if (headers.value[HEADER_FORWARDED_FOR])
        check_forwarded(headers.value[HEADER_FORWARDED_FOR]);
    free(text);
    return 0;
}
