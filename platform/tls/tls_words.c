/* tls_words.c -- what failed, in a few words for a log. */

#include "tls_inside.h"

static tls_why why_make(int number, const char* text)
{
    tls_why why;
    why.number = number;
    why.text = text;
    return why;
}

bool tls_is_later(int error)
{
#if defined(MBEDTLS_ERR_SSL_CRYPTO_IN_PROGRESS)
    if (error == MBEDTLS_ERR_SSL_CRYPTO_IN_PROGRESS) return true;
#endif
    return error == MBEDTLS_ERR_SSL_WANT_READ || error == MBEDTLS_ERR_SSL_WANT_WRITE;
}

tls_why tls_why_of_inner(const gh_platform* inner)
{
    tls_why why = {0, NULL};
    if (inner->reason != NULL) why.number = inner->reason(inner->context, &why.text);
    return why;
}

/* Of several flags the one that says most. */
tls_why tls_why_of_flags(uint32_t flags)
{
    static const struct
    {
        uint32_t flag;
        const char* text;
    } rows[] = {
        {MBEDTLS_X509_BADCERT_REVOKED, "the server's certificate was revoked"},
        {MBEDTLS_X509_BADCERT_MISSING, "the server has sent no certificate"},
        {MBEDTLS_X509_BADCERT_EXPIRED, "the server's certificate has expired"},
        {MBEDTLS_X509_BADCERT_FUTURE, "the server's certificate is not yet valid"},
        {MBEDTLS_X509_BADCERT_NOT_TRUSTED, "no root of yours has signed the server's certificate"},
        {MBEDTLS_X509_BADCERT_CN_MISMATCH, "the server's certificate is for another name"},
        {MBEDTLS_X509_BADCRL_NOT_TRUSTED, "a list of revoked certificates is not signed by its authority"},
        {MBEDTLS_X509_BADCRL_EXPIRED, "a list of revoked certificates is out of date"},
        {MBEDTLS_X509_BADCRL_FUTURE, "a list of revoked certificates is not yet valid"},
        {MBEDTLS_X509_BADCERT_KEY_USAGE, "the server's certificate is not meant for this use"},
        {MBEDTLS_X509_BADCERT_EXT_KEY_USAGE, "the server's certificate is not meant for servers"},
        {MBEDTLS_X509_BADCERT_BAD_MD, "the server's certificate is signed by a hash that is too weak"},
        {MBEDTLS_X509_BADCERT_BAD_KEY, "the server's certificate has a key that is too weak"},
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if ((flags & rows[i].flag) != 0) return why_make((int)flags, rows[i].text);
    return why_make((int)(flags & 0x7fffffff), "the server's certificate was not accepted");
}

static bool may_want_certificate(const tls_stream* stream)
{
    return stream->set != NULL && !stream->set->has_certificate && stream->saw_certificate;
}

static const char* alert_words(const tls_stream* stream, int alert)
{
    switch (alert)
    {
    case MBEDTLS_SSL_ALERT_MSG_HANDSHAKE_FAILURE:
        if (may_want_certificate(stream))
            return "the server refused the TLS hand-shake: it may want a client certificate";
        return "the server refused the TLS hand-shake";
    case MBEDTLS_SSL_ALERT_MSG_BAD_CERT:
    case MBEDTLS_SSL_ALERT_MSG_UNSUPPORTED_CERT:
    case MBEDTLS_SSL_ALERT_MSG_CERT_UNKNOWN: return "the server does not take the client certificate";
    case MBEDTLS_SSL_ALERT_MSG_CERT_REVOKED: return "the server says that the client certificate was revoked";
    case MBEDTLS_SSL_ALERT_MSG_CERT_EXPIRED: return "the server says that the client certificate has expired";
    case MBEDTLS_SSL_ALERT_MSG_UNKNOWN_CA: return "the server does not know who signed the client certificate";
    case MBEDTLS_SSL_ALERT_MSG_ACCESS_DENIED: return "the server lets the client certificate do nothing";
    case MBEDTLS_SSL_ALERT_MSG_PROTOCOL_VERSION: return "the server has no version of TLS that is taken here";
    case MBEDTLS_SSL_ALERT_MSG_UNRECOGNIZED_NAME: return "the server does not know the name that it was told";
    case 116: return "the server wants a client certificate"; /* certificate_required, of TLS 1.3 */
    default: return "the server ended TLS with an alert";
    }
}

/* Modules of mbedTLS have a number each for it, and some add it to their own. */
static bool is_out_of_memory(int error)
{
    int low = -((-error) & 0x7f);
    return error == MBEDTLS_ERR_SSL_ALLOC_FAILED || error == MBEDTLS_ERR_X509_ALLOC_FAILED ||
           error == MBEDTLS_ERR_PK_ALLOC_FAILED || error == MBEDTLS_ERR_ECP_ALLOC_FAILED ||
           low == MBEDTLS_ERR_MPI_ALLOC_FAILED || low == MBEDTLS_ERR_ASN1_ALLOC_FAILED;
}

static tls_why why_of_end(const tls_stream* stream, int number)
{
    return why_make(number == 0 ? -MBEDTLS_ERR_SSL_CONN_EOF : number,
                    may_want_certificate(stream)
                        ? "the server ended the connection in the TLS hand-shake: it may want a client certificate"
                        : "the server ended the connection in the TLS hand-shake");
}

tls_why tls_why_of(const tls_stream* stream, int error)
{
    const struct gh_tls* tls = stream->tls;
    if (tls->arena.ran_out) return why_make(-MBEDTLS_ERR_SSL_ALLOC_FAILED, "the memory of gh_tls_init is used up");
    if (tls->inner_failed) return stream->state == TLS_READY ? tls->why : why_of_end(stream, tls->why.number);
    if (error == MBEDTLS_ERR_X509_CERT_VERIFY_FAILED)
        return tls_why_of_flags(mbedtls_ssl_get_verify_result(&stream->ssl));
    if (error == MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE)
    {
        int alert = stream->ssl.TLS_OF(in_msg)[1];
        return why_make(alert, alert_words(stream, alert));
    }
    if (error == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY && stream->state == TLS_READY) return why_make(0, NULL);
    if (error == 0 || error == MBEDTLS_ERR_SSL_CONN_EOF || error == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY)
        return why_of_end(stream, 0);
    if (is_out_of_memory(error)) return why_make(-error, "TLS found no memory");
    switch (error)
    {
    case MBEDTLS_ERR_SSL_INVALID_RECORD: return why_make(-error, "what the server says is not TLS");
    case MBEDTLS_ERR_SSL_INVALID_MAC: return why_make(-error, "what the server said was changed on its way");
    case -0x6E80: /* its name differs from version to version */
        return why_make(-error, "the server has no version of TLS that is taken here");
    default: return why_make(-error, stream->state == TLS_READY ? "TLS failed" : "the TLS hand-shake failed");
    }
}
