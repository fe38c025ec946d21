#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_WITHOUT_TERMINAL 10

static const char usage[] =
    "game_server [options]: simulated players trade on a market that is kept in Redis\n"
    "\n"
    "  --redis ADDR     unix:PATH, A.B.C.D:PORT or [IPV6]:PORT; default unix:/tmp/redis.sock\n"
    "  --user NAME      ACL user; the password is taken from REDISCLI_AUTH\n"
    "  --players N      1 .. 2000, default 200\n"
    "  --seconds N      default: until Ctrl-C on a terminal, else 10\n"
    "  --guard WHICH    coarse: one lock for the whole market; fine: one for each item, the default;\n"
    "                   script: none\n"
    "  --market NAME    shared with other game servers, and kept; default: our own, removed at the end\n"
    "  --seed N         for the players' wishes\n"
    "  --quiet          no live view and no log lines, only the summary\n"
    "\n"
    "Exit code 0 only if at the end the store agrees with all that it acknowledged.\n";

static bool is_name(const char* text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t size = strlen(text);
    return size > 0 && size <= MARKET_NAME_MAX && strspn(text, plain) == size;
}

static bool read_number(const char* text, uint64_t least, uint64_t most, uint64_t* number)
{
    char* end = NULL;
    if (text[0] < '0' || text[0] > '9') return false;
    unsigned long long value = strtoull(text, &end, 0);
    *number = value;
    return *end == '\0' && value >= least && value <= most;
}

static bool read_number32(const char* text, uint32_t least, uint32_t most, uint32_t* number)
{
    uint64_t wide = 0;
    if (!read_number(text, least, most, &wide)) return false;
    *number = (uint32_t)wide;
    return true;
}

static bool read_guard(const char* text, market_guard* guard)
{
    for (market_guard g = MARKET_COARSE; g <= MARKET_SCRIPT; g++)
    {
        *guard = g;
        if (strcmp(text, market_guard_name(g)) == 0) return true;
    }
    return false;
}

/* False: there is no such option, or its value makes no sense. */
static bool read_option(options* o, const char* name, const char* value)
{
    if (strcmp(name, "--redis") == 0) o->redis = value;
    else if (strcmp(name, "--user") == 0) o->user = value;
    else if (strcmp(name, "--market") == 0 && is_name(value)) o->market = value;
    else if (strcmp(name, "--guard") == 0) return read_guard(value, &o->guard);
    else if (strcmp(name, "--seed") == 0) return read_number(value, 0, UINT64_MAX, &o->seed);
    else if (strcmp(name, "--players") == 0) return read_number32(value, 1, 2000, &o->players);
    else if (strcmp(name, "--seconds") == 0) return read_number32(value, 0, 1000000, &o->seconds);
    else return false;
    return true;
}

bool options_parse(options* o, int argc, char** argv, int* exit_code)
{
    *o = (options){.redis = "unix:/tmp/redis.sock", .guard = MARKET_FINE, .players = 200};
    o->user = "";
    o->password = getenv("REDISCLI_AUTH");
    o->seed = (uint64_t)time(NULL);
    o->seconds = isatty(STDOUT_FILENO) ? 0 : SECONDS_WITHOUT_TERMINAL;
    *exit_code = 0;
    for (int i = 1; i < argc; i++)
    {
        bool help = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
        if (strcmp(argv[i], "--quiet") == 0)
        {
            o->quiet = true;
            continue;
        }
        if (!help && i + 1 < argc && read_option(o, argv[i], argv[i + 1]))
        {
            i++;
            continue;
        }
        if (!help) fprintf(stderr, "what does %s mean?\n\n", argv[i]);
        fputs(usage, help ? stdout : stderr);
        *exit_code = help ? 0 : 2;
        return false;
    }
    return true;
}
