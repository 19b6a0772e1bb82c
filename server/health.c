#include "server/health.h"

#include "server/listen.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static const char question[] = "GET /v2/health/ready HTTP/1.1\r\n"
                               "Host: localhost\r\n"
                               "Connection: close\r\n\r\n";
static const char yes[] = "HTTP/1.1 200 ";

enum { PATIENCE_SECONDS = 2 };

/* Whether the status line says yes: the rest of the answer does not matter. */
static bool is_yes(int fd)
{
    char answer[sizeof yes - 1];
    if (send(fd, question, sizeof question - 1, MSG_NOSIGNAL) != sizeof question - 1)
        return false;
    return recv(fd, answer, sizeof answer, MSG_WAITALL) == sizeof answer &&
           memcmp(answer, yes, sizeof answer) == 0;
}

enum error_code health_ask(const char *addresses, struct error *error)
{
    struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    int fd = listen_reach(addresses, patience);
    if (fd < 0)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL, "nobody listens on %.160s",
                         addresses);
    bool ready = is_yes(fd);
    close(fd);
    if (ready)
        return ERROR_NONE;
    return error_set(error, ERROR_DRAINING, NULL, "not ready");
}
