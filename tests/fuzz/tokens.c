/* The header Authorization in the first line, then a file of tokens. */
#include "server/access/token.h"

#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADER_BYTES = 256 };

static void find(struct tokens *tokens, const char *authorization)
{
    struct bearer bearer;
    struct error error;

    if (tokens_find(tokens, authorization, &bearer, &error) != ERROR_NONE) {
        fuzz_error(&error);
        return;
    }
    FUZZ_CHECK(bearer.client && bearer.client->name[0]);
    bearer_leave(&bearer, tokens->clients);
}

static void load(const char *path, const char *authorization)
{
    static struct clients clients;
    struct tokens tokens;
    struct error error;

    clients_init(&clients, 1000);
    tokens_init(&tokens, &clients);
    if (tokens_load(&tokens, path, &error) == ERROR_NONE)
        FUZZ_CHECK(tokens.count <= TOKENS_MAX);
    else
        fuzz_error(&error);
    find(&tokens, authorization);
    tokens_release(&tokens);
    clients_release(&clients); /* asserts that nobody is left */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    char authorization[HEADER_BYTES], path[64];
    int fd = memfd_create("tokens", MFD_CLOEXEC);

    if (end && end - data < HEADER_BYTES) {
        snprintf(authorization, sizeof(authorization), "%.*s", (int)(end - data),
                 (const char *)data);
        size_t rest = size - (size_t)(end + 1 - data);
        FUZZ_CHECK(write(fd, end + 1, rest) == (ssize_t)rest);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        load(path, authorization);
    }
    close(fd);
    return 0;
}
