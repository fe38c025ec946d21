/* tls_credentials.c -- certificates, lists and a key, out of memory. */

#include "tls_inside.h"

#define CREDENTIAL_MAX (1024u * 1024u)

typedef int (*tls_reader)(tls_set* set, struct gh_tls* tls, const unsigned char* bytes, size_t size, gh_str password);

#define PEM_BEGIN       "-----BEGIN "
#define PEM_END         "-----END "
#define PEM_CERTIFICATE "-----BEGIN CERTIFICATE-----"
#define PEM_LIST        "-----BEGIN X509 CRL-----"

/* How often the mark stands in the text; and where the last of them begins, if it does. */
static size_t count_marks(gh_str text, const char* mark, size_t* last)
{
    const size_t size = strlen(mark);
    size_t count = 0;
    size_t i;
    for (i = 0; i + size <= text.size; i++)
    {
        if (memcmp(text.bytes + i, mark, size) != 0) continue;
        *last = i;
        count++;
    }
    return count;
}

static bool is_pem(gh_str text)
{
    size_t at;
    return count_marks(text, PEM_BEGIN, &at) > 0;
}

/* Up to the end of the line that ends the last piece: mbedTLS takes what stands behind lists for one that is broken. */
static gh_str pem_pieces(gh_str text)
{
    size_t at = 0;
    if (count_marks(text, PEM_END, &at) == 0) return text;
    while (at < text.size && text.bytes[at] != '\n') at++;
    return gh_str_make(text.bytes, at < text.size ? at + 1 : at);
}

static int read_roots(tls_set* set, struct gh_tls* tls, const unsigned char* bytes, size_t size, gh_str password)
{
    (void)tls, (void)password;
    return mbedtls_x509_crt_parse(&set->roots, bytes, size);
}

static int read_revoked(tls_set* set, struct gh_tls* tls, const unsigned char* bytes, size_t size, gh_str password)
{
    (void)tls, (void)password;
    return mbedtls_x509_crl_parse(&set->revoked, bytes, size);
}

static int read_certificate(tls_set* set, struct gh_tls* tls, const unsigned char* bytes, size_t size, gh_str password)
{
    (void)tls, (void)password;
    return mbedtls_x509_crt_parse(&set->certificate, bytes, size);
}

static int read_key(tls_set* set, struct gh_tls* tls, const unsigned char* bytes, size_t size, gh_str password)
{
    const unsigned char* word = password.size == 0 ? NULL : (const unsigned char*)password.bytes;
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    return mbedtls_pk_parse_key(&set->key, bytes, size, word, password.size, mbedtls_ctr_drbg_random, &tls->random);
#else
    (void)tls;
    return mbedtls_pk_parse_key(&set->key, bytes, size, word, password.size);
#endif
}

/* mbedTLS knows PEM by the NUL behind it, so that is read from a copy, which is wiped. */
static int read_with(tls_reader reader, tls_set* set, struct gh_tls* tls, gh_str from, gh_str password)
{
    unsigned char* copy;
    int result;
    if (!is_pem(from)) return reader(set, tls, (const unsigned char*)from.bytes, from.size, password);
    from = pem_pieces(from);
    copy = (unsigned char*)mbedtls_calloc(1, from.size + 1);
    if (copy == NULL) return MBEDTLS_ERR_X509_ALLOC_FAILED;
    memcpy(copy, from.bytes, from.size);
    result = reader(set, tls, copy, from.size + 1, password);
    mbedtls_platform_zeroize(copy, from.size);
    mbedtls_free(copy);
    return result;
}

/* mbedTLS passes over a piece that has no end, and what stands behind a NUL. */
static bool has_all(gh_str text, const char* mark, size_t count)
{
    size_t at;
    return !is_pem(text) || count_marks(text, mark, &at) == count;
}

static bool has_certificates(gh_str text, const mbedtls_x509_crt* chain)
{
    size_t count = 0;
    for (; chain != NULL; chain = chain->next) count++;
    return has_all(text, PEM_CERTIFICATE, count);
}

static bool has_lists(gh_str text, const mbedtls_x509_crl* chain)
{
    size_t count = 0;
    for (; chain != NULL; chain = chain->next) count++;
    return has_all(text, PEM_LIST, count);
}

static int check_pair(tls_set* set, struct gh_tls* tls)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    return mbedtls_pk_check_pair(&set->certificate.pk, &set->key, mbedtls_ctr_drbg_random, &tls->random);
#else
    (void)tls;
    return mbedtls_pk_check_pair(&set->certificate.pk, &set->key);
#endif
}

static const char* set_read(tls_set* set, struct gh_tls* tls, const gh_tls_credentials* from)
{
    const gh_str no_password = {NULL, 0};
    set->has_roots = from->roots.size > 0;
    set->has_revoked = from->revoked.size > 0;
    set->has_certificate = from->certificate.size > 0;
    if (set->has_roots &&
        (read_with(read_roots, set, tls, from->roots, no_password) != 0 || !has_certificates(from->roots, &set->roots)))
        return "credentials.roots: not all of it are certificates, in PEM or DER";
    if (set->has_revoked && (read_with(read_revoked, set, tls, from->revoked, no_password) != 0 ||
                             !has_lists(from->revoked, &set->revoked)))
        return "credentials.revoked: not all of it are lists of revoked certificates, in PEM or DER";
    if (!set->has_certificate) return NULL;
    if (read_with(read_certificate, set, tls, from->certificate, no_password) != 0 ||
        !has_certificates(from->certificate, &set->certificate))
        return "credentials.certificate: not all of it are certificates, in PEM or DER";
    if (read_with(read_key, set, tls, from->key, from->key_password) != 0)
        return "credentials.key: no private key, in PEM or DER, or key_password is not its password";
    if (check_pair(set, tls) != 0) return "credentials.key: not the key of credentials.certificate";
    return NULL;
}

gh_status tls_set_make(tls_set* set, struct gh_tls* tls, const gh_tls_credentials* from, const char** words)
{
    memset(set, 0, sizeof *set);
    mbedtls_x509_crt_init(&set->roots);
    mbedtls_x509_crl_init(&set->revoked);
    mbedtls_x509_crt_init(&set->certificate);
    mbedtls_pk_init(&set->key);
    set->is_made = true;
    tls->arena.ran_out = false;
    *words = set_read(set, tls, from);
    if (*words == NULL) return GH_OK;
    tls_set_free(set);
    if (!tls->arena.ran_out) return GH_INVALID_CREDENTIALS;
    *words = "the memory has no room for the credentials: see gh_tls_memory";
    return GH_INVALID_MEMORY;
}

void tls_set_free(tls_set* set)
{
    if (!set->is_made) return;
    mbedtls_x509_crt_free(&set->roots);
    mbedtls_x509_crl_free(&set->revoked);
    mbedtls_x509_crt_free(&set->certificate);
    mbedtls_pk_free(&set->key);
    memset(set, 0, sizeof *set);
}

static bool is_credential(gh_str text)
{
    return text.size <= CREDENTIAL_MAX;
}

gh_status tls_credentials_check(const gh_tls_credentials* from, bool insecure, const char** words)
{
    const gh_str all[] = {from->roots, from->revoked, from->certificate, from->key, from->key_password};
    size_t i;
    for (i = 0; i < sizeof all / sizeof all[0]; i++)
    {
        *words = "credentials: a string is NULL with a size";
        if (all[i].bytes == NULL && all[i].size > 0) return GH_INVALID_BUFFER;
        *words = "credentials: more than 1 MiB";
        if (!is_credential(all[i])) return GH_INVALID_CREDENTIALS;
    }
    *words = "credentials.roots: missing, so that no server can be verified";
    if (from->roots.size == 0 && !insecure) return GH_INVALID_CREDENTIALS;
    *words = "credentials: a certificate without its key, or a key without its certificate";
    if ((from->certificate.size > 0) != (from->key.size > 0)) return GH_INVALID_CREDENTIALS;
    *words = NULL;
    return GH_OK;
}
