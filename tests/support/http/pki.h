/* pki: authorities and certificates as PEM files in a folder of their own, for tests of TLS. */
#ifndef TESTS_SUPPORT_HTTP_PKI_H
#define TESTS_SUPPORT_HTTP_PKI_H

#include "kernels/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { PKI_PATH_MAX = 384 };

enum pki_kind { PKI_AUTHORITY, PKI_SERVER, PKI_CLIENT };

/* A certificate and its key. */
struct identity;

struct pki {
    char folder[64];
};

MUST_CHECK bool pki_open(struct pki *pki);

/* Removes the folder with all that is in it. */
void pki_close(struct pki *pki);

/* Makes NAME.pem and NAME.key: a certificate of 127.0.0.1 signed by `issuer` (NULL: by itself) that
 * is valid from `from` to `to` seconds from now. NULL when it cannot be made. */
struct identity *pki_issue(const struct pki *pki, const char *name, enum pki_kind kind,
                           const struct identity *issuer, long from, long to);
void identity_free(struct identity *identity);

/* FOLDER/FILE into `path` of PKI_PATH_MAX bytes, which is returned. */
const char *pki_path(const struct pki *pki, const char *file, char *path);

/* Writes a file there. */
MUST_CHECK bool pki_write(const struct pki *pki, const char *file, const void *bytes, size_t size);

#endif
