#include "tests/support/http/pki.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SERIAL_BYTES = 8 };

struct identity {
    gnutls_x509_crt_t certificate;
    gnutls_x509_privkey_t key;
};

bool pki_open(struct pki *pki)
{
    strcpy(pki->folder, "/tmp/tensord-pki.XXXXXX");
    return mkdtemp(pki->folder) != NULL;
}

const char *pki_path(const struct pki *pki, const char *file, char *path)
{
    snprintf(path, PKI_PATH_MAX, "%s/%.255s", pki->folder, file);
    return path;
}

void pki_close(struct pki *pki)
{
    char path[PKI_PATH_MAX];
    DIR *folder = opendir(pki->folder);
    struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.')
            unlink(pki_path(pki, entry->d_name, path));
    if (folder != NULL)
        closedir(folder);
    rmdir(pki->folder);
}

bool pki_write(const struct pki *pki, const char *file, const void *bytes, size_t size)
{
    char path[PKI_PATH_MAX];
    FILE *out = fopen(pki_path(pki, file, path), "w");
    bool written;

    if (out == NULL)
        return false;
    written = fwrite(bytes, 1, size, out) == size;
    return fclose(out) == 0 && written;
}

static bool write_datum(const struct pki *pki, const char *name, const char *ending,
                        gnutls_datum_t *datum)
{
    char file[PKI_PATH_MAX];
    bool written;

    snprintf(file, sizeof(file), "%.60s%s", name, ending);
    written = pki_write(pki, file, datum->data, datum->size);
    gnutls_free(datum->data);
    return written;
}

static bool export(const struct pki *pki, const char *name, const struct identity *i)
{
    gnutls_datum_t certificate, key;

    return gnutls_x509_crt_export2(i->certificate, GNUTLS_X509_FMT_PEM, &certificate) == 0 &&
           write_datum(pki, name, ".pem", &certificate) &&
           gnutls_x509_privkey_export2(i->key, GNUTLS_X509_FMT_PEM, &key) == 0 &&
           write_datum(pki, name, ".key", &key);
}

static bool set_use(gnutls_x509_crt_t certificate, enum pki_kind kind)
{
    const struct in_addr address = {htonl(INADDR_LOOPBACK)};

    if (kind == PKI_AUTHORITY)
        return gnutls_x509_crt_set_basic_constraints(certificate, 1, -1) == 0 &&
               gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_KEY_CERT_SIGN) == 0;
    return gnutls_x509_crt_set_basic_constraints(certificate, 0, -1) == 0 &&
           gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_DIGITAL_SIGNATURE) == 0 &&
           gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS, &address,
                                                sizeof(address), GNUTLS_FSAN_SET) == 0 &&
           gnutls_x509_crt_set_key_purpose_oid(
               certificate,
               kind == PKI_SERVER ? GNUTLS_KP_TLS_WWW_SERVER : GNUTLS_KP_TLS_WWW_CLIENT, 0) == 0;
}

static bool fill(struct identity *i, const char *name, enum pki_kind kind, long from, long to)
{
    unsigned char serial[SERIAL_BYTES] = {1};
    time_t now = time(NULL);

    memcpy(serial + 1, &i, sizeof(serial) - 1); /* tells certificates of one issuer apart */
    return gnutls_x509_privkey_generate(i->key, GNUTLS_PK_ECDSA,
                                        GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0) == 0 &&
           gnutls_x509_crt_set_version(i->certificate, 3) == 0 &&
           gnutls_x509_crt_set_key(i->certificate, i->key) == 0 &&
           gnutls_x509_crt_set_serial(i->certificate, serial, sizeof(serial)) == 0 &&
           gnutls_x509_crt_set_activation_time(i->certificate, now + from) == 0 &&
           gnutls_x509_crt_set_expiration_time(i->certificate, now + to) == 0 &&
           gnutls_x509_crt_set_dn_by_oid(i->certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                         (unsigned)strlen(name)) == 0 &&
           set_use(i->certificate, kind);
}

struct identity *pki_issue(const struct pki *pki, const char *name, enum pki_kind kind,
                           const struct identity *issuer, long from, long to)
{
    struct identity *i = calloc(1, sizeof(*i));
    const struct identity *signer = issuer != NULL ? issuer : i;

    if (i == NULL)
        return NULL;
    if (gnutls_x509_crt_init(&i->certificate) == 0 && gnutls_x509_privkey_init(&i->key) == 0 &&
        fill(i, name, kind, from, to) &&
        gnutls_x509_crt_sign2(i->certificate, signer->certificate, signer->key, GNUTLS_DIG_SHA256,
                              0) == 0 &&
        export(pki, name, i))
        return i;
    identity_free(i);
    return NULL;
}

void identity_free(struct identity *identity)
{
    gnutls_x509_crt_deinit(identity->certificate);
    gnutls_x509_privkey_deinit(identity->key);
    free(identity);
}
