#include "server/tensors/resident.h"

#include "proto/text.h"

void resident_etag(const struct resident *r, char *text)
{
    struct text t;
    text_init(&t, text, ETAG_MAX);
    text_puts(&t, "\"");
    text_hex(&t, r->generation, 16);
    text_puts(&t, "-");
    text_hex(&t, r->epoch, 1);
    text_puts(&t, "-");
    text_int(&t, (int64_t)r->version);
    text_puts(&t, "\"");
}

void resident_renew(struct resident *r, uint64_t now_ns)
{
    r->expires_ns = now_ns + r->ttl_ns;
}

void resident_change(struct resident *r, uint64_t now_ns)
{
    if (resident_is_saved(r))
        r->unsaved_ns = now_ns;
    r->changes++;
}

bool resident_is_expired(const struct resident *r, uint64_t now_ns)
{
    return r->ttl_ns > 0 && now_ns >= r->expires_ns;
}
