/* tls_inside.h -- what the files of guildhall_tls share: the table, its streams, its credentials. */

#ifndef GH_TLS_INSIDE_H
#define GH_TLS_INSIDE_H

#include "guildhall/tls.h"

#include "tls_arena.h"

#if defined(_MSC_VER)
#pragma warning(push, 0)
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wswitch-enum"
#endif
#include <mbedtls/version.h>
#if MBEDTLS_VERSION_NUMBER < 0x03000000
#include <mbedtls/config.h>
#endif
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/ecp.h>
#include <mbedtls/error.h>
#include <mbedtls/net_sockets.h>
#include <mbedtls/pem.h>
#include <mbedtls/platform.h>
#include <mbedtls/platform_util.h>
#include <mbedtls/ssl.h>
#include <mbedtls/x509_crl.h>
#include <mbedtls/x509_crt.h>
#if defined(_MSC_VER)
#pragma warning(pop)
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#if MBEDTLS_VERSION_NUMBER >= 0x03000000
#define TLS_OF(member) MBEDTLS_PRIVATE(member) /* no functions tell how far a hand-shake is, nor what an alert says */
#else
#define TLS_OF(member) member
#endif

#if defined(MBEDTLS_PLATFORM_MEMORY)
#define TLS_HAS_ARENA true
#else
#define TLS_HAS_ARENA false
#endif

#define TLS_NAME_MAX    253u
#define TLS_RECORD_MAX  16384u /* bytes in one record, so in one send */
#define TLS_BLOCK_ALIGN 16u

/* Why something failed: for the log, and for gh_platform.reason. */
typedef struct tls_why
{
    int number;
    const char* text; /* static, or NULL */
} tls_why;

/* Certificates and a key as they were parsed. A set that was replaced lives on until no hand-shake uses it. */
typedef struct tls_set
{
    mbedtls_x509_crt roots;
    mbedtls_x509_crl revoked;
    mbedtls_x509_crt certificate;
    mbedtls_pk_context key;
    bool has_roots, has_revoked, has_certificate;
    bool is_made;
    uint32_t hand_shakes; /* that use it */
} tls_set;

/* A name that is verified. */
typedef struct tls_name
{
    char text[TLS_NAME_MAX + 1]; /* of a host, with a NUL; "" for a number */
    unsigned char number[16];
    uint8_t number_size; /* 0, 4 or 16 */
} tls_name;

/* What a server gave for the next hand-shake: a session as mbedTLS writes it. */
typedef struct tls_ticket
{
    uint64_t key; /* of address and name; 0: none */
    uint64_t age; /* the least is the oldest      */
    uint32_t size;
    unsigned char* bytes;
} tls_ticket;

typedef enum tls_state
{
    TLS_FREE = 0,
    TLS_CONNECTING, /* the inner stream is */
    TLS_SHAKING,
    TLS_READY,
    TLS_BROKEN /* nothing may be sent or read any more */
} tls_state;

typedef struct tls_stream
{
    tls_state state;
    intptr_t inner; /* also what the client knows it by */
    struct gh_tls* tls;
    mbedtls_ssl_context ssl;
    mbedtls_ssl_config conf; /* each has its own: credentials may change under it */
    tls_set* set;            /* while it shakes hands */
    tls_name name;
    uint64_t ticket_key;
    uint32_t renewal;     /* of the table's, when its hand-shake began: a ticket of before is worth nothing */
    uint32_t tick;        /* of the table's ticks, at the last connected() */
    uint32_t owed;        /* bytes in a record that did not leave whole: the caller has not been told of them */
    tls_why why;          /* of one that is broken */
    bool has_ssl;         /* ssl and conf were begun */
    bool saw_certificate; /* else it is resumed */
    bool used_ticket;
} tls_stream;

struct gh_tls
{
    gh_platform platform; /* what clients see; its context is this */
    const gh_platform* inner;
    tls_arena arena;
    tls_set sets[2];
    tls_set* set;     /* for the next connection */
    uint32_t renewal; /* how often it was renewed */
    tls_stream* streams;
    uint32_t streams_capacity;
    tls_ticket* tickets;
    uint32_t tickets_capacity;
    uint32_t ticket_bytes;
    uint64_t ticket_age;
    uint32_t tick; /* see see_tick in tls_shake.c */
    uint32_t steps_left;
    uint32_t steps_per_tick;
    bool insecure;
    char server_name[TLS_NAME_MAX + 1];
    mbedtls_ctr_drbg_context random;
    tls_why why;       /* of the last call that failed */
    bool inner_failed; /* why is the inner platform's */
    gh_hooks hooks;
    gh_tls_stats stats;
};

/* tls_words.c */
bool tls_is_later(int error); /* it is none: mbedTLS waits for bytes, or for another step */
tls_why tls_why_of_inner(const gh_platform* inner);
tls_why tls_why_of(const tls_stream* stream, int error);
tls_why tls_why_of_flags(uint32_t flags);

/* tls_names.c: what the certificate must be for. False: there is no name, and *name is empty. */
bool tls_name_of(const char* server_name, const gh_address* address, tls_name* name);
bool tls_name_is_of(const tls_name* name, const mbedtls_x509_crt* certificate);
uint64_t tls_key_of(const gh_address* address, const tls_name* name);

/* tls_credentials.c. Words says what is wrong, static. */
gh_status tls_set_make(tls_set* set, struct gh_tls* tls, const gh_tls_credentials* from, const char** words);
void tls_set_free(tls_set* set);
gh_status tls_credentials_check(const gh_tls_credentials* from, bool insecure, const char** words);

/* tls_tickets.c */
void tls_ticket_use(tls_stream* stream);
void tls_ticket_keep(tls_stream* stream); /* not if its hand-shake was with credentials that were replaced */
void tls_ticket_drop(struct gh_tls* tls, uint64_t key);
void tls_tickets_forget(struct gh_tls* tls);

/* tls_stream.c */
gh_status tls_open(void* context, const gh_address* address, intptr_t* stream);
gh_status tls_connected(void* context, intptr_t stream);
int64_t tls_send(void* context, intptr_t stream, const void* bytes, size_t size);
int64_t tls_receive(void* context, intptr_t stream, void* bytes, size_t size);
void tls_close(void* context, intptr_t stream);
void tls_stream_end(tls_stream* stream);

/* tls_shake.c: GH_OK, GH_PENDING, or GH_REFUSED with tls->why. */
gh_status tls_shake_begin(tls_stream* stream);
gh_status tls_shake_on(tls_stream* stream);
void tls_shake_over(tls_stream* stream, bool well); /* once for each that was begun */

#endif
