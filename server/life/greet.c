#include "server/life/greet.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A socket that is bound to all addresses is reached at the loopback address. */
static const struct {
    const char *bound, *reached;
} wildcards[] = {{"0.0.0.0:", "127.0.0.1:"}, {"[::]:", "[::1]:"}};

static void print_url(char *text, size_t size, const struct listener *listener)
{
    const char *address = listener->address + (listener->is_tls ? strlen("tls:") : 0);
    const char *scheme = listener->is_tls ? "https" : "http";
    if (listener->is_unix) {
        snprintf(text, size, "--unix-socket %s http://localhost", address + strlen("unix:"));
        return;
    }
    for (size_t i = 0; i < sizeof wildcards / sizeof *wildcards; i++) {
        size_t length = strlen(wildcards[i].bound);
        if (strncmp(address, wildcards[i].bound, length) == 0) {
            snprintf(text, size, "%s://%s%s", scheme, wildcards[i].reached, address + length);
            return;
        }
    }
    snprintf(text, size, "%s://%s", scheme, address);
}

void greet_print(char *text, size_t size, const struct config *config,
                 const struct listener *listener)
{
    char url[LISTENER_NAME_MAX + 40];
    print_url(url, sizeof url, listener);
    snprintf(text, size,
             "try:  curl %s%s%s%s/v2/models/tensor_scatter_add/infer -d "
             "'{\"inputs\":{\"tensor\":[1,2,3,4],\"indices\":[[1],[3]],\"updates\":[10,20]}}'\n",
             listener->is_tls ? "-k " : "",
             *config->tokens ? "-H 'Authorization: Bearer TOKEN' " : "", url, config->base_path);
}

void greet_terminal(const struct server *server, const struct listeners *listeners)
{
    char text[1024];
    if (!isatty(STDERR_FILENO) || listeners->count == 0)
        return;
    greet_print(text, sizeof text, &server->config, &listeners->list[0]);
    fputs(text, stderr);
}
