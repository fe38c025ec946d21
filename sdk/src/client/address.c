/* address.c -- from "unix:PATH" and "HOST:PORT" to a gh_address. */

#include "client/state.h"

#include "wire/endpoint.h"

#define ADDRESS_PATH_MAX 100u

/* "PORT", 1..65535, no sign and no leading zero. */
static bool parse_port(gh_str text, uint16_t* port)
{
    uint32_t value = 0;
    size_t i;
    if (text.size == 0 || text.size > 5 || text.bytes[0] == '0') return false;
    for (i = 0; i < text.size; i++)
    {
        if (text.bytes[i] < '0' || text.bytes[i] > '9') return false;
        value = value * 10 + (uint32_t)(text.bytes[i] - '0');
    }
    *port = (uint16_t)value;
    return value <= UINT16_MAX;
}

/* Four numbers of 0..255 with dots between them. A zero in front of another digit means octal to some, decimal to
   others, and to inet_pton nothing. */
static bool is_ipv4(gh_str host)
{
    size_t i;
    uint32_t value = 0;
    uint32_t digits = 0;
    uint32_t dots = 0;
    for (i = 0; i < host.size; i++)
    {
        char c = host.bytes[i];
        if (c == '.')
        {
            if (digits == 0 || ++dots > 3) return false;
            value = digits = 0;
            continue;
        }
        if (c < '0' || c > '9' || ++digits > 3 || (digits > 1 && value == 0)) return false;
        value = value * 10 + (uint32_t)(c - '0');
        if (value > 255) return false;
    }
    return dots == 3 && digits > 0;
}

/* Only its letters are looked at; the operating system has the last word when it connects. */
static bool is_ipv6(gh_str host)
{
    size_t i;
    uint32_t colons = 0;
    for (i = 0; i < host.size; i++)
    {
        char c = host.bytes[i];
        if (c == ':') colons++;
        if (!(c == ':' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
            return false;
    }
    return colons >= 2 && host.size <= 45;
}

static bool is_host_name(gh_str host)
{
    size_t i;
    if (host.size == 0 || host.size > GH_ENDPOINT_HOST_MAX) return false;
    for (i = 0; i < host.size; i++)
    {
        char c = host.bytes[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
              c == '_'))
            return false;
    }
    return true;
}

static gh_status parse_path(gh_str path, gh_address* address)
{
    if (path.size == 0 || path.size > ADDRESS_PATH_MAX || memchr(path.bytes, 0, path.size) != NULL)
        return GH_INVALID_ADDRESS;
    address->kind = GH_ADDRESS_UNIX;
    address->path = path;
    return GH_OK;
}

gh_status gh_address_parse(gh_str text, gh_address* address)
{
    const gh_str scheme = gh_str_literal("unix:");
    size_t colon = text.size;
    memset(address, 0, sizeof *address);
    if (text.bytes == NULL) return GH_INVALID_ADDRESS;
    if (text.size > scheme.size && memcmp(text.bytes, scheme.bytes, scheme.size) == 0)
        return parse_path(gh_str_make(text.bytes + scheme.size, text.size - scheme.size), address);

    while (colon > 0 && text.bytes[colon - 1] != ':') colon--;
    if (colon == 0) return GH_INVALID_ADDRESS;
    if (!parse_port(gh_str_make(text.bytes + colon, text.size - colon), &address->port)) return GH_INVALID_ADDRESS;
    address->host = gh_str_make(text.bytes, colon - 1);
    if (address->host.size >= 2 && text.bytes[0] == '[' && text.bytes[colon - 2] == ']')
    {
        address->kind = GH_ADDRESS_IPV6;
        address->host = gh_str_make(text.bytes + 1, colon - 3);
        return is_ipv6(address->host) ? GH_OK : GH_INVALID_ADDRESS;
    }
    address->kind = GH_ADDRESS_IPV4;
    if (is_ipv4(address->host)) return GH_OK;
    return is_host_name(address->host) ? GH_PENDING : GH_INVALID_ADDRESS;
}

gh_status gh_address_check(const gh_client_config* config, gh_str text)
{
    gh_address address;
    gh_status status = gh_address_parse(text, &address);
    if (status == GH_PENDING && config->resolver != NULL) return GH_OK;
    return status == GH_PENDING ? GH_INVALID_ADDRESS : status;
}

gh_str gh_address_next(gh_str* list)
{
    size_t size = 0;
    gh_str address;
    while (size < list->size && list->bytes[size] != ',') size++;
    address = gh_str_make(list->bytes, size);
    if (size == list->size) *list = gh_str_make(NULL, 0);
    else *list = gh_str_make(list->bytes + size + 1, list->size - size - 1);
    return address;
}

gh_status gh_target_parse(gh_str text, gh_target* target)
{
    gh_status status = gh_address_parse(text, &target->address);
    target->text = text;
    target->needs_resolver = status == GH_PENDING;
    return status;
}
