#include "server/net/listen_text.h"

#include "server/base/list.h"

#include <stddef.h>
#include <string.h>

bool listen_take_tls(const char **address)
{
    static const char prefix[] = "tls:";
    bool is_tls = strncmp(*address, prefix, sizeof prefix - 1) == 0;
    *address += is_tls ? sizeof prefix - 1 : 0;
    return is_tls;
}

const char *listen_unix_path(const char *address)
{
    static const char prefix[] = "unix:";
    return strncmp(address, prefix, sizeof prefix - 1) == 0 ? address + sizeof prefix - 1 : NULL;
}

bool listen_split(char *address, char **host, char **port)
{
    static char loopback[] = "127.0.0.1";
    char *colon = strrchr(address, ':');
    if (!colon) {
        *host = loopback;
        *port = address;
        return *address && address[strspn(address, "0123456789")] == '\0';
    }
    *colon = '\0';
    *port = colon + 1;
    *host = address;
    if (!**port)
        return false;
    size_t size = strlen(address);
    if (*address == '[' && size > 2 && address[size - 1] == ']') {
        address[size - 1] = '\0';
        *host = address + 1;
        return true;
    }
    return !strchr(address, ':');
}

bool listen_wants_tls(const char *addresses)
{
    size_t size;
    for (const char *at = addresses; (at = list_next(at, &size)); at += size)
        if (listen_take_tls(&(const char *){at}))
            return true;
    return false;
}
