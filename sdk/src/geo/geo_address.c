/* geo_address.c -- text to the numbers of an address, IPv4 and IPv6. */

#include "guildhall/geo.h"

/* "a.b.c.d": each part within 0..255, without leading zeros (which some read as octal). */
static bool geo_parse_ipv4(gh_str text, uint64_t* number)
{
    uint64_t value = 0;
    size_t at = 0;
    int part;
    for (part = 0; part < 4; part++)
    {
        uint32_t byte = 0;
        size_t begin = at;
        while (at < text.size && at - begin < 4 && text.bytes[at] >= '0' && text.bytes[at] <= '9')
            byte = byte * 10 + (uint32_t)(text.bytes[at++] - '0');
        if (at == begin || byte > 255 || (at - begin > 1 && text.bytes[begin] == '0')) return false;
        value = value << 8 | byte;
        if (part < 3 && (at == text.size || text.bytes[at++] != '.')) return false;
    }
    *number = value;
    return at == text.size;
}

static int geo_hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Groups of four hex digits, one "::" for a row of zeros, perhaps an IPv4 address at the end. */
typedef struct geo_groups
{
    uint16_t values[8];
    int count;
    int gap; /* where "::" stands; -1: nowhere */
} geo_groups;

static bool geo_take_group(geo_groups* groups, gh_str text, size_t* at)
{
    uint32_t value = 0;
    size_t begin = *at;
    uint64_t ipv4;
    while (*at < text.size && *at - begin < 5 && geo_hex_digit(text.bytes[*at]) >= 0)
        value = value << 4 | (uint32_t)geo_hex_digit(text.bytes[(*at)++]);
    if (*at < text.size && text.bytes[*at] == '.')
    {
        if (groups->count > 6 || !geo_parse_ipv4(gh_str_make(text.bytes + begin, text.size - begin), &ipv4))
            return false;
        groups->values[groups->count++] = (uint16_t)(ipv4 >> 16);
        groups->values[groups->count++] = (uint16_t)(ipv4 & 0xffff);
        *at = text.size;
        return true;
    }
    if (*at == begin || *at - begin > 4 || groups->count == 8) return false;
    groups->values[groups->count++] = (uint16_t)value;
    return true;
}

static bool geo_take_groups(geo_groups* groups, gh_str text)
{
    size_t at = 0;
    if (text.size >= 2 && text.bytes[0] == ':' && text.bytes[1] == ':')
    {
        groups->gap = 0;
        at = 2;
    }
    while (at < text.size)
    {
        if (!geo_take_group(groups, text, &at)) return false;
        if (at == text.size) break;
        if (text.bytes[at++] != ':' || at == text.size) return false; /* no ':' alone at the end */
        if (text.bytes[at] != ':') continue;
        if (groups->gap >= 0) return false;
        groups->gap = groups->count;
        at++;
    }
    return groups->gap < 0 ? groups->count == 8 : groups->count < 8;
}

static bool geo_parse_ipv6(gh_str text, gh_geo_address* address)
{
    geo_groups groups = {{0}, 0, -1};
    uint16_t values[8] = {0};
    int i;
    if (!geo_take_groups(&groups, text)) return false;
    for (i = 0; i < groups.count; i++)
        values[groups.gap < 0 || i < groups.gap ? i : 8 - groups.count + i] = groups.values[i];
    address->high = address->low = 0;
    for (i = 0; i < 4; i++) address->high = address->high << 16 | values[i];
    for (i = 4; i < 8; i++) address->low = address->low << 16 | values[i];
    address->is_ipv6 = address->high != 0 || address->low >> 32 != 0xffff;
    if (!address->is_ipv6) address->low &= 0xffffffffu; /* ::ffff:a.b.c.d */
    return true;
}

gh_status gh_geo_parse(gh_str text, gh_geo_address* address)
{
    gh_geo_address parsed = {0, 0, false};
    if (address == NULL) return GH_INVALID_OUT;
    if (text.bytes == NULL) return GH_INVALID_ADDRESS;
    if (!geo_parse_ipv4(text, &parsed.low) && !geo_parse_ipv6(text, &parsed)) return GH_INVALID_ADDRESS;
    *address = parsed;
    return GH_OK;
}
