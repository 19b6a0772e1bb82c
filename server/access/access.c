#include "server/access/access.h"

#include "server/access/cors.h"
#include "server/base/clock.h"
#include "server/base/exhausted.h"
#include "server/net/base_path.h"
#include "server/net/listen_text.h"

static enum error_code load_tls(struct access *access, struct error *error)
{
    const struct config *config = access->config;
    const struct tls_files files = {config->tls_cert, config->tls_key, config->tls_client_ca};
    if (*files.certificate && *files.key)
        return tls_load(&access->tls, &files, error);
    if (*files.certificate || *files.key || *files.client_ca)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "tls_cert, tls_key and tls_client_ca: the first two must be set together");
    return ERROR_NONE;
}

static enum error_code load_tokens(struct access *access, struct error *error)
{
    const char *path = access->config->tokens;
    return *path ? tokens_load(&access->tokens, path, error) : ERROR_NONE;
}

enum error_code access_init(struct access *access, const struct config *config, size_t memory,
                            bool wants_tls, struct error *error)
{
    *access = (struct access){.config = config};
    clients_init(&access->clients, memory / 100 * (size_t)config->client_share);
    tokens_init(&access->tokens, &access->clients);
    tls_init(&access->tls);
    if (wants_tls && !(*config->tls_cert && *config->tls_key))
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "an address tls:... needs tls_cert and tls_key");
    if (load_tls(access, error) != ERROR_NONE || load_tokens(access, error) != ERROR_NONE ||
        networks_parse(&access->trusted_proxies, config->trusted_proxies, error) != ERROR_NONE ||
        cors_check(config->cors_origins, error) != ERROR_NONE ||
        base_path_check(config->base_path, error) != ERROR_NONE)
        return error->code;
    return ERROR_NONE;
}

enum error_code access_check(const struct config *config, struct error *error)
{
    struct access access;
    enum error_code code = access_init(&access, config, 0, listen_wants_tls(config->listen), error);
    access_release(&access);
    return code;
}

void access_release(struct access *access)
{
    tls_release(&access->tls);
    tokens_release(&access->tokens);
    clients_release(&access->clients);
}

void access_reload(struct access *access,
                   void (*complain)(void *context, const struct error *error), void *context)
{
    struct error error;
    if (load_tls(access, &error) != ERROR_NONE)
        complain(context, &error);
    if (load_tokens(access, &error) != ERROR_NONE)
        complain(context, &error);
}

bool access_is_open(const struct access *access, const struct listener *listener)
{
    return !listener->is_unix && !listener->is_loopback && !listener->is_tls &&
           !*access->config->tokens;
}

static bool needs_token(const struct config *config, enum route_kind kind)
{
    switch (kind) {
    case ROUTE_PROBE:
    case ROUTE_PAGE:
        return false;
    case ROUTE_METRICS:
        return config->protect_metrics;
    case ROUTE_INFO:
        return config->protect_info;
    case ROUTE_INFER:
    case ROUTE_TENSOR:
    case ROUTE_LOOK:
        break;
    }
    return true;
}

static enum error_code refuse_over_quota(struct grant *grant, const char *what,
                                         const struct limit *limit, uint64_t wait_ns,
                                         struct error *error)
{
    uint64_t seconds = (wait_ns + SEC - 1) / SEC;
    grant->retry_after = seconds < INT32_MAX ? (int)seconds : INT32_MAX;
    return error_set(error, ERROR_QUOTA_EXCEEDED, NULL,
                     "the limit of the token '%s' is %llu %s in %llu s; try again in %d s",
                     grant->bearer.client->name, (unsigned long long)limit->amount, what,
                     (unsigned long long)(limit->period_ns / SEC), grant->retry_after);
}

static enum error_code charge_token(struct grant *grant, int64_t length, struct error *error)
{
    const struct bearer *bearer = &grant->bearer;
    struct client *client = bearer->client;
    uint64_t now = clock_ns();
    uint64_t wait = quota_wait(&client->bytes, &bearer->bytes, now);
    if (wait > 0)
        return refuse_over_quota(grant, "bytes of bodies", &bearer->bytes, wait, error);
    wait = quota_take(&client->requests, &bearer->requests, now);
    if (wait > 0)
        return refuse_over_quota(grant, "requests", &bearer->requests, wait, error);
    grant->charged_bytes = length > 0 ? (uint64_t)length : 0;
    quota_charge(&client->bytes, &bearer->bytes, grant->charged_bytes, now);
    return ERROR_NONE;
}

static enum error_code enter_by_address(struct access *access, const struct visitor *visitor,
                                        struct grant *grant, struct error *error)
{
    char name[ADDRESS_TEXT_MAX];
    address_print_client(&visitor->address, name);
    grant->bearer.client = clients_enter(&access->clients, CLIENT_ADDRESS, name);
    if (grant->bearer.client)
        return ERROR_NONE;
    return error_no_memory(error);
}

enum error_code access_ask(struct access *access, const struct visitor *visitor,
                           enum route_kind kind, int64_t length, struct grant *grant,
                           struct error *error)
{
    const struct config *config = access->config;
    if (*config->tokens && needs_token(config, kind)) {
        enum error_code code =
            tokens_find(&access->tokens, visitor->authorization, &grant->bearer, error);
        return code == ERROR_NONE ? charge_token(grant, length, error) : code;
    }
    if (config->client_share > 0 && (kind == ROUTE_INFER || kind == ROUTE_TENSOR))
        return enter_by_address(access, visitor, grant, error);
    return ERROR_NONE;
}

void access_leave(struct access *access, struct grant *grant, uint64_t bytes)
{
    struct bearer *bearer = &grant->bearer;
    if (!bearer->client)
        return;
    if (bytes > grant->charged_bytes)
        quota_charge(&bearer->client->bytes, &bearer->bytes, bytes - grant->charged_bytes,
                     clock_ns());
    bearer_leave(bearer, &access->clients);
    *grant = (struct grant){.retry_after = 0};
}

const char *grant_token(const struct grant *grant)
{
    const struct client *client = grant->bearer.client;
    return client && client->kind == CLIENT_TOKEN ? client->name : NULL;
}

struct budget *access_share(const struct access *access, const struct grant *grant)
{
    struct client *client = grant->bearer.client;
    return access->config->client_share > 0 && client ? &client->share : NULL;
}
