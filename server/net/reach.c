#include "server/net/reach.h"

#include "server/base/list.h"
#include "server/net/listen.h"
#include "server/net/listen_text.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int connect_to(const struct sockaddr *name, socklen_t size, struct timeval patience)
{
    int fd = socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, name, size) == 0)
        return fd;
    close(fd);
    return -1;
}

static int reach_inet(char *address, struct timeval patience)
{
    char *host, *port;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    if (!listen_split(address, &host, &port) ||
        getaddrinfo(*host ? host : NULL, port, &hints, &found) != 0)
        return -1;
    int fd = connect_to(found->ai_addr, found->ai_addrlen, patience);
    freeaddrinfo(found);
    return fd;
}

static int reach_unix(const char *path, struct timeval patience)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof name.sun_path)
        return -1;
    strcpy(name.sun_path, path);
    return connect_to((const struct sockaddr *)&name, sizeof name, patience);
}

int reach_first(const char *addresses, struct timeval patience, bool *is_tls)
{
    char address[LISTENER_NAME_MAX];
    size_t size;
    const char *first = list_next(addresses, &size);
    if (!first || size >= sizeof address)
        return -1;
    const char *end = first + size;
    *is_tls = listen_take_tls(&first);
    snprintf(address, sizeof address, "%.*s", (int)(end - first), first);
    const char *path = listen_unix_path(address);
    return path ? reach_unix(path, patience) : reach_inet(address, patience);
}
