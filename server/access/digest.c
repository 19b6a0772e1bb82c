#include "server/access/digest.h"

#include <assert.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

bool digest_of(uint8_t *digest, const void *bytes, size_t size)
{
    return gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, size, digest) == 0;
}

bool digest_begin(struct digest *d)
{
    gnutls_hash_hd_t state;
    if (gnutls_hash_init(&state, GNUTLS_DIG_SHA256) != 0)
        return false;
    d->state = state;
    return true;
}

void digest_add(struct digest *d, const void *bytes, size_t size)
{
    int result = gnutls_hash(d->state, bytes, size);
    assert(result == 0);
}

void digest_end(struct digest *d, uint8_t *digest)
{
    gnutls_hash_deinit(d->state, digest);
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool digest_parse(uint8_t *digest, const char *text)
{
    for (int i = 0; i < DIGEST_BYTES; i++) {
        int high = hex(text[2 * i]), low = high < 0 ? -1 : hex(text[2 * i + 1]);
        if (low < 0)
            return false;
        digest[i] = (uint8_t)(16 * high + low);
    }
    return text[2 * DIGEST_BYTES] == '\0';
}

bool digest_equal(const uint8_t *a, const uint8_t *b)
{
    return gnutls_memcmp(a, b, DIGEST_BYTES) == 0;
}
