#include "server/net/health.h"

#include "server/config/config.h"
#include "server/net/reach.h"
#include "server/net/tls.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static const char question[] = "GET %s/v2/health/ready HTTP/1.1\r\n"
                               "Host: localhost\r\n"
                               "Connection: close\r\n\r\n";
static const char yes[] = "HTTP/1.1 200 ";

enum { PATIENCE_SECONDS = 2 };

/* Whether the status line says 200; the rest of the answer does not matter. */
static bool is_yes(int fd, const char *base_path, bool is_tls)
{
    char answer[sizeof yes - 1], text[CONFIG_TEXT_MAX + sizeof question];
    size_t size = (size_t)snprintf(text, sizeof text, question, base_path);
    bool is_heard = is_tls ? tls_ask(fd, text, size, answer, sizeof answer)
                           : send(fd, text, size, MSG_NOSIGNAL) == (ssize_t)size &&
                                 recv(fd, answer, sizeof answer, MSG_WAITALL) == sizeof answer;
    return is_heard && memcmp(answer, yes, sizeof answer) == 0;
}

enum error_code health_ask(const char *addresses, const char *base_path, struct error *error)
{
    struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    bool is_tls;
    int fd = reach_first(addresses, patience, &is_tls);
    if (fd < 0)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL, "nobody listens on %.160s",
                         addresses);
    bool ready = is_yes(fd, base_path, is_tls);
    close(fd);
    if (ready)
        return ERROR_NONE;
    return error_set(error, ERROR_DRAINING, NULL, "not ready");
}
