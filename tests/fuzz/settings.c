/* A text as each kind of setting or header that has a grammar of its own: networks, an address,
 * origins, a limit, a digest. What can be printed comes back the same. */
#include "server/access/cors.h"
#include "server/access/digest.h"
#include "server/access/quota.h"
#include "server/net/network.h"

#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_networks(const char *text)
{
    struct networks networks;
    struct error error;

    if (networks_parse(&networks, text, &error) != ERROR_NONE) {
        fuzz_error(&error);
        return;
    }
    FUZZ_CHECK(networks.count >= 0 && networks.count <= NETWORKS_MAX);
    for (int i = 0; i < networks.count; i++) {
        struct address address = {.is_known = true};

        FUZZ_CHECK(networks.list[i].bits >= 0 && networks.list[i].bits <= 128);
        memcpy(address.bytes, networks.list[i].bytes, sizeof(address.bytes));
        FUZZ_CHECK(networks_hold(&networks, &address));
    }
}

static void check_address(const char *text)
{
    struct address address, again;
    char printed[ADDRESS_TEXT_MAX], client[ADDRESS_TEXT_MAX];

    if (!address_parse(&address, text, (int)strlen(text)) || !address.is_known)
        return;
    address_print(&address, printed);
    address_print_client(&address, client);
    FUZZ_CHECK(address_parse(&again, printed, (int)strlen(printed)));
    FUZZ_CHECK(memcmp(address.bytes, again.bytes, sizeof(address.bytes)) == 0);
}

static void check_origins(const char *text)
{
    struct error error;

    if (cors_check(text, &error) != ERROR_NONE) {
        fuzz_error(&error);
        return;
    }
    if (!strchr(text, ',') && !strchr(text, ' ') && *text)
        FUZZ_CHECK(cors_allow(text, text) != NULL);
}

static void check_limit(const char *text)
{
    struct limit limit;

    if (limit_parse(&limit, text))
        FUZZ_CHECK(limit.period_ns > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t digest[DIGEST_BYTES];
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check_networks(text);
    check_address(text);
    check_origins(text);
    check_limit(text);
    if (digest_parse(digest, text))
        FUZZ_CHECK(strlen(text) == 64);
    free(text);
    return 0;
}
