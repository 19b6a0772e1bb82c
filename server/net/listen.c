#include "server/net/listen.h"

#include "proto/number/digits.h"
#include "server/base/list.h"
#include "server/net/listen_text.h"
#include "server/net/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

static enum error_code refuse_address(const char *address, const char *why, struct error *error)
{
    return error_set(error, ERROR_INVALID_PARAMETER, NULL, "cannot listen on %.160s: %s", address,
                     why);
}

static enum error_code refuse_form(const char *address, const char *why, struct error *error)
{
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "cannot listen on %.160s: %s (allowed are host:port, port, [v6]:port, "
                     "tls:host:port, unix:/path)",
                     address, why);
}

static enum error_code refuse_listener_count(const char *address, struct error *error)
{
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "cannot listen on %.160s: %d addresses are the most", address, LISTENERS_MAX);
}

static enum error_code refuse_bound(const char *address, int reason, struct error *error)
{
    if (reason != EADDRINUSE)
        return refuse_address(address, strerror(reason), error);
    return refuse_address(
        address,
        "another process listens there; choose another port with --listen=127.0.0.1:9090 "
        "(make run LISTEN=127.0.0.1:9090), or end that process",
        error);
}

/* Accepted connections inherit these options: dead peers are noticed, and the kernel holds at most
 * TCP_NOTSENT_LOWAT bytes of an answer that a slow reader has not taken. */
static void set_options(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        {SOL_SOCKET, SO_REUSEADDR, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, 60000},
        {IPPROTO_TCP, TCP_NOTSENT_LOWAT, 512 * 1024},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

static int listen_at(const struct sockaddr *name, socklen_t size)
{
    int fd = socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    set_options(fd);
    if (bind(fd, name, size) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

/* Listens at the first address of a name that this machine has: localhost may stand for ::1, which
 * may be disabled. */
static int listen_at_first(const struct addrinfo *found)
{
    int fd = listen_at(found->ai_addr, found->ai_addrlen);
    for (const struct addrinfo *ai = found->ai_next;
         fd < 0 && (errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT) && ai; ai = ai->ai_next)
        fd = listen_at(ai->ai_addr, ai->ai_addrlen);
    return fd;
}

static void describe_inet(struct listener *listener)
{
    struct sockaddr_storage ss;
    socklen_t length = sizeof ss;
    char host[INET6_ADDRSTRLEN] = "?", port[8] = "0";
    getsockname(listener->fd, (struct sockaddr *)&ss, &length);
    getnameinfo((struct sockaddr *)&ss, length, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(listener->address, sizeof listener->address,
             ss.ss_family == AF_INET6 ? "%s[%s]:%s" : "%s%s:%s", listener->is_tls ? "tls:" : "",
             host, port);
    struct address address = address_of((struct sockaddr *)&ss);
    listener->is_loopback = address_is_loopback(&address);
}

/* getaddrinfo would cut a larger number to 16 bits. */
static bool is_port(const char *port)
{
    uint64_t number;
    return port[strspn(port, "0123456789")] || digits_read(port, UINT16_MAX, &number);
}

static enum error_code open_inet(struct listener *listener, const char *address,
                                 struct error *error)
{
    char copy[LISTENER_NAME_MAX], *host, *port;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    snprintf(copy, sizeof copy, "%s", address);
    if (!listen_split(copy, &host, &port))
        return refuse_form(address, "it has no port", error);
    if (!is_port(port))
        return refuse_form(address, "a port is at most 65535", error);
    int failed = getaddrinfo(*host ? host : NULL, port, &hints, &found);
    if (failed)
        return refuse_form(address, gai_strerror(failed), error);
    listener->fd = listen_at_first(found);
    freeaddrinfo(found);
    if (listener->fd < 0)
        return refuse_bound(address, errno, error);
    describe_inet(listener);
    return ERROR_NONE;
}

/* Removes a socket that nobody listens on: a server that crashed has left it. Nothing else is
 * removed: a mistyped path may be somebody's file. */
static enum error_code clear_path(const struct sockaddr_un *name, const char *address,
                                  struct error *error)
{
    struct stat status;
    if (lstat(name->sun_path, &status) != 0)
        return ERROR_NONE; /* bind says what else is wrong */
    if (!S_ISSOCK(status.st_mode))
        return refuse_address(address, "there is something that is no socket", error);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool is_left = fd >= 0 && connect(fd, (const struct sockaddr *)name, sizeof *name) != 0 &&
                   errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    if (!is_left)
        return refuse_address(address, "another server is there", error);
    unlink(name->sun_path);
    return ERROR_NONE;
}

static enum error_code refuse_path(const char *address, struct error *error)
{
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "cannot listen on %.160s: a path starts with / and has at most %zu bytes",
                     address, sizeof((struct sockaddr_un *)NULL)->sun_path - 1);
}

static enum error_code open_unix(struct listener *listener, const char *address,
                                 struct error *error)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const char *path = listen_unix_path(address);
    if (*path != '/' || strlen(path) >= sizeof name.sun_path)
        return refuse_path(address, error);
    strcpy(name.sun_path, path);
    if (clear_path(&name, address, error) != ERROR_NONE)
        return error->code;
    listener->fd = listen_at((const struct sockaddr *)&name, sizeof name);
    if (listener->fd < 0)
        return refuse_bound(address, errno, error);
    listener->is_unix = true;
    snprintf(listener->address, sizeof listener->address, "%s", address);
    return ERROR_NONE;
}

static enum error_code open_one(struct listeners *listeners, const char *address,
                                struct error *error)
{
    if (listeners->count == LISTENERS_MAX)
        return refuse_listener_count(address, error);
    struct listener *listener = &listeners->list[listeners->count];
    *listener = (struct listener){.fd = -1, .is_tls = listen_take_tls(&address)};
    bool is_unix = listen_unix_path(address) != NULL;
    if (is_unix && listener->is_tls)
        return refuse_address(address, "a path needs no TLS", error);
    enum error_code code =
        is_unix ? open_unix(listener, address, error) : open_inet(listener, address, error);
    if (code == ERROR_NONE)
        listeners->count++;
    return code;
}

enum error_code listeners_open(struct listeners *listeners, const char *addresses,
                               struct error *error)
{
    listeners->count = 0;
    size_t size;
    for (const char *at = addresses; (at = list_next(at, &size)); at += size) {
        char address[LISTENER_NAME_MAX];
        snprintf(address, sizeof address, "%.*s", (int)size, at);
        if (open_one(listeners, address, error) != ERROR_NONE) {
            listeners_close(listeners);
            return error->code;
        }
    }
    if (listeners->count == 0)
        return refuse_form("nothing", "the list is empty", error);
    return ERROR_NONE;
}

enum error_code listeners_adopt(struct listeners *listeners, int fd, bool is_tls,
                                struct error *error)
{
    struct sockaddr_un name;
    int listens = 0;
    socklen_t size = sizeof listens, length = sizeof name;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens ||
        getsockname(fd, (struct sockaddr *)&name, &length) != 0)
        return refuse_address("an inherited descriptor", "it is no socket that listens", error);
    if (listeners->count == LISTENERS_MAX)
        return refuse_listener_count("an inherited descriptor", error);
    struct listener *listener = &listeners->list[listeners->count++];
    bool is_unix = name.sun_family == AF_UNIX;
    *listener = (struct listener){
        .fd = fd, .is_unix = is_unix, .is_inherited = true, .is_tls = is_tls && !is_unix};
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    if (listener->is_unix)
        snprintf(listener->address, sizeof listener->address, "unix:%.107s", name.sun_path);
    else
        describe_inet(listener);
    return ERROR_NONE;
}

/* Drops the packets that begin a TCP handshake; those of handshakes under way pass. */
static bool drop_syns(int fd)
{
    enum { FLAGS_AT = 13, SYN = 0x02 };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS_AT),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SYN, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

/* The file is removed once: after that its path may be the next server's. */
static void remove_file(struct listener *listener)
{
    if (listener->is_unix && !listener->is_inherited && !listener->is_shut)
        unlink(listen_unix_path(listener->address));
    listener->is_shut = true;
}

bool listener_shut(struct listener *listener)
{
    if (listener->is_inherited)
        return true;
    if (!listener->is_unix)
        return drop_syns(listener->fd);
    remove_file(listener);
    return shutdown(listener->fd, SHUT_RD) == 0; /* connections made before can still be accepted */
}

void listeners_close(struct listeners *listeners)
{
    for (int i = 0; i < listeners->count; i++) {
        remove_file(&listeners->list[i]);
        close(listeners->list[i].fd);
    }
    listeners->count = 0;
}

bool listeners_have(const struct listeners *listeners, bool tls)
{
    for (int i = 0; i < listeners->count; i++)
        if (listeners->list[i].is_tls == tls)
            return true;
    return false;
}
