/* endpoint.c -- which of the forms of a host and a port it is. */

#include "wire/endpoint.h"

#define ENDPOINT_IPV6_MAX 45u

static bool endpoint_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool endpoint_is_letter(char c, char last)
{
    return (c >= 'a' && c <= last) || (c >= 'A' && c <= last - 'a' + 'A');
}

bool gh_endpoint_host_is_good(gh_str host)
{
    const bool is_ipv6 = host.size > 0 && memchr(host.bytes, ':', host.size) != NULL;
    uint32_t colons = 0;
    size_t i;
    if (host.size == 0 || host.size > (is_ipv6 ? ENDPOINT_IPV6_MAX : GH_ENDPOINT_HOST_MAX)) return false;
    for (i = 0; i < host.size; i++)
    {
        char c = host.bytes[i];
        bool is_of_a_number = endpoint_is_digit(c) || c == '.' || (is_ipv6 && c == ':');
        bool is_of_a_name = !is_ipv6 && (c == '-' || c == '_');
        if (!is_of_a_number && !is_of_a_name && !endpoint_is_letter(c, is_ipv6 ? 'f' : 'z')) return false;
        if (c == ':') colons++;
    }
    return !is_ipv6 || colons >= 2;
}

gh_endpoint gh_endpoint_make(gh_str host, int64_t port)
{
    gh_endpoint made = GH_ZERO;
    made.kind = GH_ENDPOINT_BAD;
    if (port < 0 || port > UINT16_MAX) return made;
    if (host.size > 0 && !gh_str_equal(host, gh_str_literal("?")) && !gh_endpoint_host_is_good(host)) return made;
    made.kind = GH_ENDPOINT_NOWHERE;
    if (port == 0 || gh_str_equal(host, gh_str_literal("?"))) return made;
    made.kind = host.size == 0 ? GH_ENDPOINT_ASKED : GH_ENDPOINT_GIVEN;
    made.host = host;
    made.port = (uint16_t)port;
    return made;
}
