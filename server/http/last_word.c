#include "server/http/parts.h"

#include "proto/answer/problem.h"
#include "proto/text.h"

#include <microhttpd.h>
#include <stdio.h>
#include <sys/socket.h>

size_t http_print_answer(char *text, size_t capacity, int status, const struct error *error)
{
    char body[PROBLEM_TEXT_MAX];
    struct text out;
    size_t size = problem_print(body, error, false, NULL);
    text_init(&out, text, capacity);
    text_printf(&out, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nError-Code: %s\r\n",
                status, MHD_get_reason_phrase_for((unsigned)status), error_name(error->code));
    if (problem_retry(error->code))
        text_puts(&out, "Retry-After: 1\r\n");
    text_printf(&out, "Connection: close\r\nContent-Length: %zu\r\n\r\n", size);
    text_put(&out, body, size);
    return out.size;
}

/* Sends a short answer past libmicrohttpd, at a moment when no part of another answer is on its
 * way: it goes out at once or, to a client that reads nothing, not at all. */
bool http_peer_say(struct peer *peer, const char *bytes, size_t size)
{
    if (peer->session)
        return tls_send(peer->session, bytes, size);
    return send(peer->fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

void http_last_word(struct peer *peer, int status, const struct error *error)
{
    char text[HTTP_ANSWER_MAX];
    size_t size = http_print_answer(text, sizeof text, status, error);
    peer->last_status = status;
    peer->lingers = true;
    if (http_peer_say(peer, text, size) && peer->session)
        tls_finish(peer->session);
    shutdown(peer->fd, SHUT_WR); /* libmicrohttpd's own answer fails */
}

#if MHD_VERSION < 0x01000000
/* libmicrohttpd 0.9 looks at Content-Length and at cookies once the head is whole and before it
 * asks us; what it refuses there it answers with two header blocks. Its log is the one call in
 * between, and the connection it is about is the only one whose head is whole and not read by us.
 */
static struct peer *in_question(struct http_daemon *daemon)
{
    struct peer *peer;
    pthread_mutex_lock(&daemon->peers_lock);
    for (peer = daemon->peers; peer; peer = peer->next)
        if (pthread_equal(peer->thread, pthread_self()) && peer->head_of &&
            MHD_get_connection_info(peer->head_of, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE))
            break;
    pthread_mutex_unlock(&daemon->peers_lock);
    return peer;
}

static void answer_before_the_library(struct peer *peer)
{
    struct error error;
    error_clear(&error);
    bool is_too_large = http_head_explain(peer->head_of, &error);
    http_last_word(
        peer, is_too_large ? MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE : problem_status(error.code),
        &error);
    http_account_refused(peer, &error);
}
#else
#define in_question(daemon)             NULL
#define answer_before_the_library(peer) ((void)(peer))
#endif

void http_library_says(struct http_daemon *daemon, const char *format, va_list arguments)
{
    static const char refusal[] = "Error processing request";
    struct log *log = &daemon->http->server->log;
    struct peer *peer = in_question(daemon);
    bool is_refusal = strncmp(format, refusal, sizeof refusal - 1) == 0;
    enum log_level level = is_refusal && !peer ? LOG_WARN : LOG_DEBUG;
    if (log_wants(log, level)) {
        char text[256];
        vsnprintf(text, sizeof text, format, arguments);
        log_say(log, level, "libmicrohttpd", "said", text);
    }
    if (peer && !peer->last_status)
        answer_before_the_library(peer);
}
