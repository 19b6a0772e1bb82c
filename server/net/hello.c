#include "server/net/hello.h"

#include <stdbool.h>
#include <string.h>

enum {
    PROTOCOL_VERSION = 70,
    HANDSHAKE_FAILURE = 40,
    NO_APPLICATION_PROTOCOL = 120,
    DECODE_ERROR = 50,
    NONE = -1
};
enum { TLS_1_2 = 0x0303, TLS_1_3 = 0x0304, RANDOM_BYTES = 32, ALPN = 16, VERSIONS = 43 };

/* Bytes not read yet; `size` below 0: something did not fit. */
struct reader {
    const uint8_t *at;
    ptrdiff_t size;
};

static unsigned take_number(struct reader *r, int bytes)
{
    unsigned value = 0;
    r->size -= bytes;
    for (int i = 0; i < bytes && r->size >= 0; i++)
        value = value << 8 | *r->at++;
    return value;
}

/* Takes a part that has its length in front. */
static struct reader take_part(struct reader *r, int length_bytes)
{
    ptrdiff_t size = take_number(r, length_bytes);
    struct reader part = {r->at, size};
    r->size -= size;
    if (r->size < 0)
        return (struct reader){r->at, r->size};
    r->at += size;
    return part;
}

static bool is_ours(const struct suites *ours, unsigned suite)
{
    for (int i = 0; i < ours->count; i++)
        if (ours->list[i] == suite)
            return true;
    return false;
}

static bool shares_a_suite(struct reader suites, const struct suites *ours)
{
    while (suites.size >= 2)
        if (is_ours(ours, take_number(&suites, 2)))
            return true;
    return false;
}

static bool speaks_our_version(struct reader versions)
{
    while (versions.size >= 2) {
        unsigned version = take_number(&versions, 2);
        if (version == TLS_1_2 || version == TLS_1_3)
            return true;
    }
    return false;
}

static bool speaks_http(struct reader names)
{
    while (names.size > 0) {
        struct reader name = take_part(&names, 1);
        if (name.size == 8 &&
            (memcmp(name.at, "http/1.1", 8) == 0 || memcmp(name.at, "http/1.0", 8) == 0))
            return true;
    }
    return false;
}

/* `is_new_enough`: what the message's own version says, for a client without the extension of
 * versions. */
static int check_extensions(struct reader all, bool is_new_enough)
{
    int alert = NONE;
    while (all.size > 0) {
        unsigned type = take_number(&all, 2);
        struct reader one = take_part(&all, 2);
        if (type == VERSIONS)
            is_new_enough = speaks_our_version(take_part(&one, 1));
        else if (type == ALPN && !speaks_http(take_part(&one, 2)))
            alert = NO_APPLICATION_PROTOCOL;
    }
    return all.size < 0 ? DECODE_ERROR : is_new_enough ? alert : PROTOCOL_VERSION;
}

int hello_alert(const uint8_t *bytes, size_t size, const struct suites *ours)
{
    struct reader r = {bytes, (ptrdiff_t)size};
    unsigned version = take_number(&r, 2);
    if (r.size < RANDOM_BYTES)
        return DECODE_ERROR;
    r.at += RANDOM_BYTES;
    r.size -= RANDOM_BYTES;
    take_part(&r, 1); /* the session's id */
    struct reader suites = take_part(&r, 2);
    take_part(&r, 1); /* compressions */
    if (r.size < 0)
        return DECODE_ERROR;
    bool has_extensions = r.size > 0;
    int alert = check_extensions(has_extensions ? take_part(&r, 2) : r, version >= TLS_1_2);
    if (alert == NONE && !shares_a_suite(suites, ours))
        alert = HANDSHAKE_FAILURE;
    return alert;
}
