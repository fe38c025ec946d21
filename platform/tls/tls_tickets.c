/* tls_tickets.c -- sessions that a next hand-shake goes on from, for a few addresses, the oldest of which goes. */

#include "tls_inside.h"

static tls_ticket* ticket_find(struct gh_tls* tls, uint64_t key)
{
    uint32_t i;
    for (i = 0; i < tls->tickets_capacity; i++)
        if (tls->tickets[i].key == key) return &tls->tickets[i];
    return NULL;
}

static void ticket_wipe(struct gh_tls* tls, tls_ticket* ticket)
{
    if (ticket->key == 0) return;
    mbedtls_platform_zeroize(ticket->bytes, ticket->size);
    ticket->key = ticket->age = 0;
    ticket->size = 0;
    tls->stats.tickets--;
}

void tls_ticket_drop(struct gh_tls* tls, uint64_t key)
{
    tls_ticket* ticket = ticket_find(tls, key);
    if (ticket != NULL) ticket_wipe(tls, ticket);
}

void tls_tickets_forget(struct gh_tls* tls)
{
    uint32_t i;
    for (i = 0; i < tls->tickets_capacity; i++) ticket_wipe(tls, &tls->tickets[i]);
}

/* One that cannot be read, as after another version of mbedTLS, is none. */
void tls_ticket_use(tls_stream* stream)
{
    mbedtls_ssl_session session;
    tls_ticket* ticket = ticket_find(stream->tls, stream->ticket_key);
    if (ticket == NULL) return;
    mbedtls_ssl_session_init(&session);
    if (mbedtls_ssl_session_load(&session, ticket->bytes, ticket->size) == 0)
        stream->used_ticket = mbedtls_ssl_set_session(&stream->ssl, &session) == 0;
    mbedtls_ssl_session_free(&session);
    if (!stream->used_ticket) ticket_wipe(stream->tls, ticket);
}

/* The place of that address, else a free one, else the oldest. */
static tls_ticket* ticket_place(struct gh_tls* tls, uint64_t key)
{
    tls_ticket* place = ticket_find(tls, key);
    uint32_t i;
    if (place != NULL) return place;
    for (i = 0; i < tls->tickets_capacity; i++)
        if (place == NULL || tls->tickets[i].age < place->age) place = &tls->tickets[i];
    return place;
}

void tls_ticket_keep(tls_stream* stream)
{
    struct gh_tls* tls = stream->tls;
    tls_ticket* ticket = tls->tickets_capacity == 0 ? NULL : ticket_place(tls, stream->ticket_key);
    mbedtls_ssl_session session;
    size_t size = 0;
    if (ticket == NULL || stream->renewal != tls->renewal) return;
    ticket_wipe(tls, ticket);
    mbedtls_ssl_session_init(&session);
    if (mbedtls_ssl_get_session(&stream->ssl, &session) == 0 &&
        mbedtls_ssl_session_save(&session, ticket->bytes, tls->ticket_bytes, &size) == 0)
    {
        ticket->key = stream->ticket_key;
        ticket->age = ++tls->ticket_age;
        ticket->size = (uint32_t)size;
        tls->stats.tickets++;
    }
    mbedtls_ssl_session_free(&session);
}
