#include "server/follow/link.h"

#include <poll.h>
#include <string.h>

static bool fail(struct link *link, const char *why)
{
    snprintf(link->why, sizeof link->why, "%s", why);
    return false;
}

static void set_tls(CURL *curl, const struct settings *s)
{
    if (*s->redis_ca)
        curl_easy_setopt(curl, CURLOPT_CAINFO, s->redis_ca);
    if (*s->redis_cert) {
        curl_easy_setopt(curl, CURLOPT_SSLCERT, s->redis_cert);
        curl_easy_setopt(curl, CURLOPT_SSLKEY, s->redis_key);
    }
    curl_easy_setopt(curl, CURLOPT_SSL_ENABLE_ALPN, 0L);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
}

/* libcurl knows no such scheme, and needs none: it connects, and its HTTP is not used. */
static void print_url(const struct settings *settings, char *url, size_t size)
{
    const char *host = strstr(settings->redis, "://") + 3;
    bool is_tls = strncmp(settings->redis, "rediss:", 7) == 0;
    const char *port = strrchr(host, ':');
    bool has_port = port && !strchr(port, ']');
    snprintf(url, size, "%s://%s%s", is_tls ? "https" : "http", host, has_port ? "" : ":6379");
}

bool link_open(struct link *link, const struct settings *settings, struct pause *pause)
{
    char url[CONFIG_TEXT_MAX + 32];
    *link = (struct link){.curl = curl_easy_init(), .pause = pause};
    if (!link->curl)
        return fail(link, "out of memory");
    print_url(settings, url, sizeof url);
    curl_easy_setopt(link->curl, CURLOPT_URL, url);
    curl_easy_setopt(link->curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(link->curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(link->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(link->curl, CURLOPT_ERRORBUFFER, link->why);
    curl_easy_setopt(link->curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(link->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)(settings->redis_timeout / MSEC));
    set_tls(link->curl, settings);
    CURLcode code = curl_easy_perform(link->curl);
    if (code == CURLE_OK)
        return true;
    if (!*link->why)
        fail(link, curl_easy_strerror(code));
    curl_easy_cleanup(link->curl);
    link->curl = NULL;
    return false;
}

void link_close(struct link *link)
{
    curl_easy_cleanup(link->curl);
    link->curl = NULL;
}

static bool wait_for(struct link *link, short events, uint64_t ns)
{
    curl_socket_t fd = -1;
    if (curl_easy_getinfo(link->curl, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK || fd < 0)
        return fail(link, "the connection is gone");
    return pause_for(link->pause, fd, events, ns) || fail(link, "no answer in time");
}

bool link_send(struct link *link, const char *data, size_t size, uint64_t ns)
{
    while (size > 0) {
        size_t sent = 0;
        CURLcode code = curl_easy_send(link->curl, data, size, &sent);
        if (code == CURLE_AGAIN && !wait_for(link, POLLOUT, ns))
            return false;
        if (code != CURLE_OK && code != CURLE_AGAIN)
            return fail(link, curl_easy_strerror(code));
        data += sent;
        size -= sent;
    }
    return true;
}

size_t link_receive(struct link *link, char *data, size_t room, uint64_t ns)
{
    for (;;) {
        size_t received = 0;
        CURLcode code = curl_easy_recv(link->curl, data, room, &received);
        if (code == CURLE_OK && received > 0)
            return received;
        if (code != CURLE_AGAIN) {
            fail(link, code == CURLE_OK ? "Redis closed the connection" : curl_easy_strerror(code));
            return 0;
        }
        if (!wait_for(link, POLLIN, ns))
            return 0;
    }
}
