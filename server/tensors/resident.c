#include "server/tensors/resident.h"

#include <inttypes.h>
#include <stdio.h>

void resident_etag(const struct resident *r, char *text)
{
    snprintf(text, ETAG_MAX, "\"%016" PRIx64 "-%" PRIx64 "-%" PRIu64 "\"", r->generation, r->epoch,
             r->version);
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
