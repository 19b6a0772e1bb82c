#include "server/net/systemd.h"

#include "proto/number/digits.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST_DESCRIPTOR = 3 };

void systemd_notify(const char *state)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    size_t size = path ? strlen(path) : 0;
    if (size < 2 || size >= sizeof name.sun_path || (*path != '/' && *path != '@'))
        return;
    memcpy(name.sun_path, path, size);
    if (*path == '@')
        name.sun_path[0] = '\0'; /* the abstract name space */
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    /* Nobody can act on a failure: the supervisor notices by itself. */
    ssize_t sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&name,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
    (void)sent;
    close(fd);
}

/* An environment variable that is a positive number; 0 otherwise. */
static uint64_t number(const char *name)
{
    const char *text = getenv(name);
    uint64_t value;
    const char *end = text ? digits_read(text, UINT64_MAX, &value) : NULL;
    return end && *end == '\0' ? value : 0;
}

/* Whether the variable names this process: it may be inherited from a parent for which it was
 * meant. */
static bool is_for_us(const char *variable)
{
    return number(variable) == (uint64_t)getpid();
}

uint64_t systemd_watchdog_ns(void)
{
    if (getenv("WATCHDOG_PID") && !is_for_us("WATCHDOG_PID"))
        return 0;
    return number("WATCHDOG_USEC") * 1000 / 2;
}

/* Steps over the next of the colon-separated names. A socket named tls speaks TLS. */
static bool take_is_tls(const char **names)
{
    size_t size = strcspn(*names, ":");
    bool is_tls = size == 3 && memcmp(*names, "tls", size) == 0;
    *names += size + ((*names)[size] == ':');
    return is_tls;
}

enum error_code systemd_listeners(struct listeners *listeners, struct error *error)
{
    uint64_t count = is_for_us("LISTEN_PID") ? number("LISTEN_FDS") : 0;
    const char *names = getenv("LISTEN_FDNAMES");
    if (!names)
        names = "";
    for (uint64_t i = 0; i < count; i++) {
        int fd = FIRST_DESCRIPTOR + (int)i;
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        if (listeners_adopt(listeners, fd, take_is_tls(&names), error) != ERROR_NONE)
            return error->code;
    }
    return ERROR_NONE;
}
