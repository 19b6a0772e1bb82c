#include "server/net/network.h"

#include "proto/number/digits.h"
#include "server/base/list.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { MAPPED_BITS = 96, CLIENT_BITS = 64 };

static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
static const char unix_name[] = "unix";

static bool is_v4(const uint8_t *bytes)
{
    return memcmp(bytes, mapped, sizeof mapped) == 0;
}

static void put_v4(struct address *address, const void *four)
{
    memcpy(address->bytes, mapped, sizeof mapped);
    memcpy(address->bytes + sizeof mapped, four, 4);
    address->is_known = true;
}

struct address address_of(const struct sockaddr *socket)
{
    struct address address = {.is_known = false};
    if (socket->sa_family == AF_INET) {
        put_v4(&address, &((const struct sockaddr_in *)(const void *)socket)->sin_addr);
    } else if (socket->sa_family == AF_INET6) {
        memcpy(address.bytes, &((const struct sockaddr_in6 *)(const void *)socket)->sin6_addr, 16);
        address.is_known = true;
    }
    return address;
}

/* Copies the address of "[v6]:port", "v4:port", "v6" or "v4". */
static bool cut_port(char *host, const char *text, int size)
{
    const char *end;
    if (size > 0 && *text == '[') {
        end = memchr(text, ']', (size_t)size);
        if (!end)
            return false;
        size = (int)(end - ++text);
    } else if ((end = memchr(text, ':', (size_t)size)) &&
               !memchr(end + 1, ':', (size_t)(text + size - end - 1))) {
        size = (int)(end - text);
    }
    if (size <= 0 || size >= ADDRESS_TEXT_MAX)
        return false;
    memcpy(host, text, (size_t)size);
    host[size] = '\0';
    return true;
}

bool address_parse(struct address *address, const char *text, int size)
{
    char host[ADDRESS_TEXT_MAX];
    uint8_t four[4];
    if (!cut_port(host, text, size))
        return false;
    if (inet_pton(AF_INET, host, four) == 1) {
        put_v4(address, four);
        return true;
    }
    address->is_known = inet_pton(AF_INET6, host, address->bytes) == 1;
    return address->is_known;
}

void address_print(const struct address *address, char *text)
{
    const uint8_t *bytes = address->bytes;
    if (!address->is_known)
        strcpy(text, unix_name);
    else if (is_v4(bytes))
        inet_ntop(AF_INET, bytes + sizeof mapped, text, ADDRESS_TEXT_MAX);
    else
        inet_ntop(AF_INET6, bytes, text, ADDRESS_TEXT_MAX);
}

void address_print_client(const struct address *address, char *text)
{
    struct address client = *address;
    if (client.is_known && !is_v4(client.bytes))
        memset(client.bytes + CLIENT_BITS / 8, 0, sizeof client.bytes - CLIENT_BITS / 8);
    address_print(&client, text);
}

bool address_is_loopback(const struct address *address)
{
    static const uint8_t loopback[16] = {[15] = 1};
    return is_v4(address->bytes) ? address->bytes[sizeof mapped] == 127
                                 : memcmp(address->bytes, loopback, sizeof loopback) == 0;
}

/* "10.0.0.0/8" */
static bool parse_network(struct network *network, char *word)
{
    struct address address;
    char *slash = strchr(word, '/');
    if (slash)
        *slash = '\0';
    if (strchr(word, '[') || !address_parse(&address, word, (int)strlen(word)))
        return false;
    int least = is_v4(address.bytes) ? MAPPED_BITS : 0;
    uint64_t most = (uint64_t)(128 - least), bits = most;
    const char *end = slash ? digits_read(slash + 1, most, &bits) : "";
    if (!end || *end)
        return false;
    memcpy(network->bytes, address.bytes, sizeof network->bytes);
    network->bits = least + (int)bits;
    return true;
}

static enum error_code refuse_network(const char *word, const char *why, struct error *error)
{
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "trusted_proxies: %.80s %s, allowed are 10.0.0.0/8, 2001:db8::/32, addresses "
                     "and unix, with commas",
                     word, why);
}

static enum error_code refuse_network_count(const char *word, struct error *error)
{
    char why[32];
    snprintf(why, sizeof why, "is one more than %d", NETWORKS_MAX);
    return refuse_network(word, why, error);
}

enum error_code networks_parse(struct networks *networks, const char *text, struct error *error)
{
    size_t size;
    *networks = (struct networks){.count = 0};
    for (const char *at = text; (at = list_next(at, &size)); at += size) {
        char word[ADDRESS_TEXT_MAX], copy[ADDRESS_TEXT_MAX];
        snprintf(word, sizeof word, "%.*s", (int)size, at);
        strcpy(copy, word);
        if (strcmp(word, unix_name) == 0)
            networks->holds_unix = true;
        else if (networks->count == NETWORKS_MAX)
            return refuse_network_count(word, error);
        else if (size >= sizeof word || !parse_network(&networks->list[networks->count++], word))
            return refuse_network(copy, "is no network", error);
    }
    return ERROR_NONE;
}

static bool is_inside(const struct network *network, const uint8_t *bytes)
{
    int whole = network->bits / 8, rest = network->bits % 8;
    if (memcmp(network->bytes, bytes, (size_t)whole) != 0)
        return false;
    return rest == 0 || (network->bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0;
}

bool networks_hold(const struct networks *networks, const struct address *address)
{
    if (!address->is_known)
        return networks->holds_unix;
    for (int i = 0; i < networks->count; i++)
        if (is_inside(&networks->list[i], address->bytes))
            return true;
    return false;
}
