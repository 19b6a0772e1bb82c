/* digest: SHA-256, compared in constant time. */
#ifndef SERVER_ACCESS_DIGEST_H
#define SERVER_ACCESS_DIGEST_H

#include "kernels/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_BYTES = 32 };

/* Computes the digest of some bytes; false without memory. */
MUST_CHECK bool digest_of(uint8_t *digest, const void *bytes, size_t size);

/* The same of bytes that come in pieces. digest_end gives back what digest_begin took; false
 * without memory. */
struct digest {
    void *state;
};
MUST_CHECK bool digest_begin(struct digest *d);
void digest_add(struct digest *d, const void *bytes, size_t size);
void digest_end(struct digest *d, uint8_t *digest);

/* Exactly 64 hexadecimal digits; false for anything else. */
bool digest_parse(uint8_t *digest, const char *text);

/* Whether two digests are equal, in a time that does not depend on their bytes. */
bool digest_equal(const uint8_t *a, const uint8_t *b);

#endif
