/* dns_turns.c -- which of several addresses comes next: each once before any comes twice.

   A round is over when each was given, or when nobody has asked for so long that the attempt before this one is no
   failure any more: longer than a client's longest connect_timeout_us and its longest pause together. */

#include "dns_inside.h"

#define ROUND_US 130000000ull

static bool is_same(const dns_address* a, const dns_address* b)
{
    return a->six == b->six && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

static bool is_among(const dns_addresses* list, const dns_address* address)
{
    uint32_t i;
    for (i = 0; i < list->count; i++)
        if (is_same(&list->at[i], address)) return true;
    return false;
}

/* The family that is preferred in front; else they stay in their order. */
void gh_dns_order(dns_addresses* addresses, gh_dns_families families)
{
    dns_addresses before = *addresses;
    uint32_t count = 0;
    uint32_t i;
    if (families != GH_DNS_IPV4_FIRST && families != GH_DNS_IPV6_FIRST) return;
    for (i = 0; i < before.count; i++)
        if (before.at[i].six == (families == GH_DNS_IPV6_FIRST)) addresses->at[count++] = before.at[i];
    for (i = 0; i < before.count; i++)
        if (before.at[i].six != (families == GH_DNS_IPV6_FIRST)) addresses->at[count++] = before.at[i];
}

static const dns_address* first_not_given(const dns_host* host)
{
    uint32_t i;
    for (i = 0; i < host->found.count; i++)
        if (!is_among(&host->given, &host->found.at[i])) return &host->found.at[i];
    return NULL;
}

const dns_address* gh_dns_next(dns_host* host, uint64_t now_us)
{
    const dns_address* next;
    if (now_us - host->given_us >= ROUND_US) host->given.count = 0;
    next = first_not_given(host);
    if (next == NULL)
    {
        host->given.count = 0;
        next = &host->found.at[0];
    }
    if (host->given.count == DNS_ADDRESSES) /* of answers before this one: the oldest goes */
        memmove(host->given.at, host->given.at + 1, sizeof(dns_address) * --host->given.count);
    host->given.at[host->given.count++] = *next;
    host->given_us = now_us;
    return next;
}
