/* dns_words.c -- what c-ares says as a status, and for the log. */

#include "dns_inside.h"

gh_status gh_dns_status_of(int outcome)
{
    switch (outcome)
    {
    case ARES_SUCCESS: return GH_OK;
    case ARES_ENODATA:
    case ARES_ENOTFOUND:
    case ARES_ENONAME:
    case ARES_EBADNAME: return GH_GONE;
    case ARES_ESERVFAIL:
    case ARES_ENOTIMP:
    case ARES_EREFUSED:
    case ARES_ECONNREFUSED: return GH_REFUSED;
    case ARES_ETIMEOUT:
    case ARES_EDESTRUCTION:
    case ARES_ECANCELLED: return GH_TIMEOUT;
    default: return GH_ERROR;
    }
}

static char* put(char* to, const char* end, const char* text)
{
    while (*text != '\0' && to < end) *to++ = *text++;
    return to;
}

/* c-ares' own words; for its numbers are others in each of its versions. */
static const char* words_of(int outcome)
{
    if (outcome == ARES_ENODATA) return "it has no address of a family that is asked for";
    if (outcome == ARES_EDESTRUCTION || outcome == ARES_ETIMEOUT) return "no name server has answered in time";
    return ares_strerror(outcome);
}

/* "resolver: <name>: <words>", once as long as it is for the same reason. */
void gh_dns_tell(dns_host* host)
{
    const gh_hooks* hooks = &host->dns->hooks;
    gh_log_level level = host->outcome == host->told ? GH_LOG_DEBUG : GH_LOG_WARNING;
    char line[16 + DNS_NAME_MAX + 128];
    char* at = line;
    host->told = host->outcome;
    if (host->outcome == ARES_SUCCESS || hooks->log == NULL) return;
    at = put(at, line + sizeof line, "resolver: ");
    at = put(at, line + sizeof line, host->name);
    at = put(at, line + sizeof line, ": ");
    at = put(at, line + sizeof line, words_of(host->outcome));
    hooks->log(hooks->context, level, gh_str_make(line, (size_t)(at - line)));
}
