#include "server/http/host.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

/* unreserved and sub-delims of RFC 3986. */
static bool is_plain(unsigned char c)
{
    static const bool plain[256] = {
        ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['-'] = true,
        ['.'] = true,         ['_'] = true,         ['~'] = true,         ['!'] = true,
        ['$'] = true,         ['='] = true,         ['&' ... ','] = true, [';'] = true,
    };
    return plain[c];
}

static const char *skip_name(const char *p)
{
    for (;;) {
        if (*p == '%' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2]))
            p += 3;
        else if (is_plain((unsigned char)*p))
            p++;
        else
            return p;
    }
}

/* IPvFuture: "v" hex "." characters. */
static bool is_future(const char *text)
{
    size_t digits = *text == 'v' || *text == 'V' ? strspn(text + 1, "0123456789abcdefABCDEF") : 0;
    const char *p = text + 1 + digits;
    if (digits == 0 || *p++ != '.' || !*p)
        return false;
    while (is_plain((unsigned char)*p) || *p == ':')
        p++;
    return *p == '\0';
}

/* What is behind the bracket that closes; NULL when there is no address in between. */
static const char *skip_literal(const char *p)
{
    char text[64];
    struct in6_addr address;
    const char *end = strchr(p, ']');
    size_t size = end ? (size_t)(end - p) : sizeof text;
    if (size >= sizeof text)
        return NULL;
    memcpy(text, p, size);
    text[size] = '\0';
    return inet_pton(AF_INET6, text, &address) == 1 || is_future(text) ? end + 1 : NULL;
}

bool host_is_valid(const char *host)
{
    const char *p = *host == '[' ? skip_literal(host + 1) : skip_name(host);
    if (p && *p == ':')
        p += 1 + strspn(p + 1, "0123456789");
    return p && *p == '\0';
}
