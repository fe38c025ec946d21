/* tls_names.c -- what a server's certificate must be for, and whether it is. */

#include "tls_inside.h"

#define SAN_IP 7u /* the tag of an IP address among the alternative names of a certificate */

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static bool read_ipv4(gh_str text, unsigned char out[4])
{
    unsigned value = 0, digits = 0, dots = 0;
    size_t i;
    for (i = 0; i <= text.size; i++)
    {
        char c = i < text.size ? text.bytes[i] : '.';
        if (c == '.')
        {
            if (digits == 0 || dots == 4) return false;
            out[dots++] = (unsigned char)value;
            value = digits = 0;
            continue;
        }
        if (c < '0' || c > '9' || ++digits > 3) return false;
        value = value * 10 + (unsigned)(c - '0');
        if (value > 255) return false;
    }
    return dots == 4;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Groups of at most four digits with colons between them, as many as there are; the last may be an IPv4 address. The
   number of bytes, or -1. */
static int read_groups(gh_str text, unsigned char out[16])
{
    int bytes = 0;
    size_t at = 0;
    if (text.size == 0) return 0;
    for (;;)
    {
        unsigned value = 0;
        size_t begin = at;
        while (at < text.size && hex_digit(text.bytes[at]) >= 0 && at - begin < 4)
            value = value * 16 + (unsigned)hex_digit(text.bytes[at++]);
        if (at < text.size && text.bytes[at] == '.')
        {
            if (bytes > 12 || !read_ipv4(gh_str_make(text.bytes + begin, text.size - begin), out + bytes)) return -1;
            return bytes + 4;
        }
        if (at == begin || bytes > 14) return -1;
        out[bytes++] = (unsigned char)(value >> 8);
        out[bytes++] = (unsigned char)(value & 255);
        if (at == text.size) return bytes;
        if (text.bytes[at++] != ':') return -1;
    }
}

static bool read_ipv6(gh_str text, unsigned char out[16])
{
    unsigned char tail[16];
    size_t gap = 0;
    int before, behind;
    while (gap + 1 < text.size && !(text.bytes[gap] == ':' && text.bytes[gap + 1] == ':')) gap++;
    if (gap + 1 >= text.size) return read_groups(text, out) == 16;
    before = read_groups(gh_str_make(text.bytes, gap), out);
    behind = read_groups(gh_str_make(text.bytes + gap + 2, text.size - gap - 2), tail);
    if (before < 0 || behind < 0 || before + behind > 14) return false;
    memset(out + before, 0, (size_t)(16 - before - behind));
    memcpy(out + 16 - behind, tail, (size_t)behind);
    return true;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool name_from(gh_str text, tls_name* name)
{
    unsigned char number[16];
    if (text.size == 0 || text.size > TLS_NAME_MAX) return false;
    if (read_ipv4(text, number)) name->number_size = 4;
    else if (memchr(text.bytes, ':', text.size) != NULL && read_ipv6(text, number)) name->number_size = 16;
    memcpy(name->number, number, name->number_size);
    if (text.size > 1 && text.bytes[text.size - 1] == '.') text.size--; /* of a whole name, and no part of it */
    if (name->number_size == 0) memcpy(name->text, text.bytes, text.size);
    return true;
}

bool tls_name_of(const char* server_name, const gh_address* address, tls_name* name)
{
    memset(name, 0, sizeof *name);
    if (server_name[0] != 0) return name_from(gh_str_of(server_name), name);
    if (address->name.size > 0) return name_from(address->name, name);
    return address->kind != GH_ADDRESS_UNIX && name_from(address->host, name);
}

bool tls_name_is_of(const tls_name* name, const mbedtls_x509_crt* certificate)
{
    const mbedtls_x509_sequence* at = &certificate->subject_alt_names;
    for (; at != NULL; at = at->next)
    {
        if ((at->buf.tag & (int)MBEDTLS_ASN1_TAG_VALUE_MASK) != (int)SAN_IP) continue;
        if (at->buf.len == name->number_size && memcmp(at->buf.p, name->number, name->number_size) == 0) return true;
    }
    return false;
}

/* FNV-1a. Two servers with one key would cost a whole hand-shake, and no more: who has not the secret of a ticket
   cannot go on from it. */
static uint64_t hash_on(uint64_t hash, const void* bytes, size_t size)
{
    const unsigned char* at = (const unsigned char*)bytes;
    size_t i;
    for (i = 0; i < size; i++) hash = (hash ^ at[i]) * 0x100000001b3ull;
    return (hash ^ size) * 0x100000001b3ull;
}

uint64_t tls_key_of(const gh_address* address, const tls_name* name)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    hash = hash_on(hash, address->path.bytes, address->kind == GH_ADDRESS_UNIX ? address->path.size : 0);
    hash = hash_on(hash, address->host.bytes, address->kind == GH_ADDRESS_UNIX ? 0 : address->host.size);
    hash = hash_on(hash, &address->port, sizeof address->port);
    hash = hash_on(hash, name->text, strlen(name->text));
    hash = hash_on(hash, name->number, name->number_size);
    return hash == 0 ? 1 : hash;
}
