/* options.c -- a table of the options: which roles have it, what it sets, what it is for. */

#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_WITHOUT_TERMINAL      10
#define TEXT_OF(number)               #number
#define TEXT(number)                  TEXT_OF(number)
#define SECONDS_WITHOUT_TERMINAL_TEXT TEXT(SECONDS_WITHOUT_TERMINAL)

typedef enum option_kind
{
    KIND_TEXT = 0, /* const char*                 */
    KIND_WORD,     /* the same, fit for a key     */
    KIND_NUMBER,   /* uint32_t, within least..most */
    KIND_LONG,     /* uint64_t                    */
    KIND_GUARD,
    KIND_PORTS,
    KIND_FLAG /* bool; takes no value */
} option_kind;

typedef struct option
{
    int roles;
    const char* name;
    option_kind kind;
    size_t offset; /* in options */
    uint32_t least;
    uint32_t most;
    const char* what; /* its value  */
    const char* help;
} option;

#define AT(field) offsetof(options, field)

static const option table[] = {
    {ROLE_STORE, "--redis", KIND_TEXT, AT(redis), 0, 0, "ADDR", "unix:PATH, A.B.C.D:PORT or [IPV6]:PORT"},
    {ROLE_STORE, "--cluster", KIND_FLAG, AT(cluster), 0, 0, "",
     "it is a Cluster; then --redis may have several of its nodes, with commas between them"},
    {ROLE_STORE, "--sentinel", KIND_WORD, AT(sentinel), 0, 0, "NAME",
     "its master is called so by Sentinels; then --redis has these, with commas between them"},
    {ROLE_STORE, "--user", KIND_TEXT, AT(user), 0, 0, "NAME", "ACL user; the password is in REDISCLI_AUTH"},
    {ROLE_STORE, "--tls-roots", KIND_TEXT, AT(tls_roots), 0, 0, "FILE",
     "speak TLS with it; PEM of who may have signed its certificate"},
#if defined(GH_WITH_EMBEDDED)
    {ROLE_STORE, "--embedded", KIND_FLAG, AT(embedded), 0, 0, "",
     "no server at all: the store is in this process, and so are all the others"},
#endif
    {ROLE_FLEET, "--prefix", KIND_WORD, AT(prefix), 0, 0, "WORD",
     "all keys begin with it; there must be none yet, since all of them are removed at the end"},
    {ROLE_STORE & ~ROLE_FLEET, "--prefix", KIND_WORD, AT(prefix), 0, 0, "WORD", "all keys begin with it"},
    {ROLE_MEMBERS, "--name", KIND_WORD, AT(name), 0, 0, "WORD", "of this process; no two in a fleet have the same"},
    {ROLE_MEMBERS, "--board", KIND_TEXT, AT(board), 0, 0, "FILE", "where the view of the fleet looks"},
    {ROLE_MEMBERS, "--slot", KIND_NUMBER, AT(slot), 0, BOARD_ROWS - 1, "N", "our row on the board"},
    {ROLE_SERVER, "--port", KIND_NUMBER, AT(port), 0, 65535, "N", "UDP, loopback; 0: any"},
    {ROLE_SERVER | ROLE_FLEET, "--seats", KIND_NUMBER, AT(seats), 1, 4000, "N",
     "players in a server at once; in a fleet 9 in 10 of the bots, so that some wait"},
    {ROLE_SERVER, "--players-max", KIND_NUMBER, AT(players_max), 1, 4000, "N", "connections: seats, and the line"},
    {ROLE_SERVER | ROLE_FLEET, "--guard", KIND_GUARD, AT(guard), 0, 0, "WHICH",
     "of an item: coarse (one lock for all), fine (one each) or script (none)"},
    {ROLE_SERVER | ROLE_FLEET, "--realtime", KIND_FLAG, AT(realtime), 0, 0, "",
     "servers ask for a real-time class, so that no other program makes a frame late"},
    {ROLE_SERVER, "--logs", KIND_TEXT, AT(logs), 0, 0, "DIR", "where the log of events is written"},
    {ROLE_SERVER, "--database", KIND_TEXT, AT(database), 0, 0, "FILE", "SQLite; made if it is not there"},
    {ROLE_AGGREGATOR | ROLE_FLEET, "--addresses", KIND_TEXT, AT(addresses), 0, 0, "CSV",
     "first, last, country, region, city; without it a made table"},
    {ROLE_FLEET, "--servers", KIND_NUMBER, AT(servers), 1, OPTIONS_PORTS_MAX, "N", "how many"},
    {ROLE_FLEET, "--workers", KIND_NUMBER, AT(workers), 1, 4, "N", "how many"},
    {ROLE_BOTS | ROLE_FLEET, "--bots", KIND_NUMBER, AT(bots), 1, MARKET_PLAYERS_MAX, "N", "how many"},
    {ROLE_BOTS, "--servers", KIND_PORTS, AT(ports), 0, 0, "PORT,...", "where the servers are"},
    {ROLE_BOTS | ROLE_FLEET, "--seconds", KIND_NUMBER, AT(seconds), 0, 1000000, "N",
     "0: until Ctrl-C; without it until Ctrl-C on a terminal, " SECONDS_WITHOUT_TERMINAL_TEXT " seconds elsewhere"},
    {ROLE_FLEET, "--page", KIND_NUMBER, AT(page), 1, 65535, "PORT", "the view as a web page, on loopback"},
    {ROLE_FLEET, "--summary", KIND_TEXT, AT(summary), 0, 0, "FILE", "what is said at the end, as JSON"},
    {ROLE_FLEET, "--events", KIND_TEXT, AT(events), 0, 0, "DIR",
     "kills servers of the store, and more; DIR has orders and answers of tests/fleet.sh"},
    {ROLE_FLEET, "--quiet", KIND_FLAG, AT(quiet), 0, 0, "", "no live view, only the summary"},
    {ROLE_BOTS | ROLE_FLEET | ROLE_SERVER, "--seed", KIND_LONG, AT(seed), 0, 0, "N", "for all that is random"},
};

enum
{
    OPTION_COUNT = sizeof table / sizeof table[0]
};

/* ---- Values -------------------------------------------------------------------------------------------- */

static bool is_word(const char* text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t size = strlen(text);
    return size > 0 && size <= MARKET_NAME_MAX && strspn(text, plain) == size;
}

static bool read_long(const char* text, uint64_t* number)
{
    char* end = NULL;
    if (text[0] < '0' || text[0] > '9') return false;
    *number = strtoull(text, &end, 0);
    return *end == '\0';
}

static bool read_number(const char* text, uint32_t least, uint32_t most, uint32_t* number)
{
    uint64_t wide = 0;
    if (!read_long(text, &wide) || wide < least || wide > most) return false;
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

static bool read_ports(const char* text, options* o)
{
    for (o->port_count = 0; o->port_count < OPTIONS_PORTS_MAX; text++)
    {
        char* end = NULL;
        unsigned long port = strtoul(text, &end, 10);
        if (end == text || port == 0 || port > 65535) return false;
        o->ports[o->port_count++] = (uint32_t)port;
        text = end;
        if (*text == '\0') return true;
        if (*text != ',') return false;
    }
    return false;
}

static bool read_value(options* o, const option* wanted, const char* value)
{
    void* field = (char*)o + wanted->offset;
    switch (wanted->kind)
    {
    case KIND_WORD:
        if (!is_word(value)) return false;
        *(const char**)field = value;
        return true;
    case KIND_TEXT: *(const char**)field = value; return true;
    case KIND_NUMBER: return read_number(value, wanted->least, wanted->most, field);
    case KIND_LONG: return read_long(value, field);
    case KIND_GUARD: return read_guard(value, field);
    case KIND_PORTS: return read_ports(value, o);
    case KIND_FLAG: *(bool*)field = true; return true;
    }
    return false;
}

/* ---- The line ------------------------------------------------------------------------------------------ */

static void say_options(FILE* out, options_role role)
{
    for (int i = 0; i < OPTION_COUNT; i++)
    {
        if ((table[i].roles & (int)role) == 0) continue;
        fprintf(out, "  %-14s %-9s %s", table[i].name, table[i].what, table[i].help);
        if (table[i].kind == KIND_NUMBER) fprintf(out, " (%" PRIu32 " to %" PRIu32 ")", table[i].least, table[i].most);
        fputc('\n', out);
    }
}

/* What is right for an option that got none, or a wrong one. */
static void say_value(FILE* out, const option* wanted)
{
    fprintf(out, "%s wants ", wanted->name);
    switch (wanted->kind)
    {
    case KIND_TEXT: fprintf(out, "%s", wanted->what); break;
    case KIND_WORD: fprintf(out, "1 to %d letters, digits, _ . and -", MARKET_NAME_MAX); break;
    case KIND_NUMBER: fprintf(out, "%" PRIu32 " to %" PRIu32, wanted->least, wanted->most); break;
    case KIND_LONG: fprintf(out, "a number"); break;
    case KIND_GUARD:
        for (market_guard g = MARKET_COARSE; g <= MARKET_SCRIPT; g++)
            fprintf(out, "%s%s", g == MARKET_COARSE ? "" : " or ", market_guard_name(g));
        break;
    case KIND_PORTS: fprintf(out, "1 to %d ports, each 1 to 65535, with commas between them", OPTIONS_PORTS_MAX); break;
    case KIND_FLAG: fprintf(out, "nothing"); break;
    }
    fprintf(out, "\n\n");
}

static const option* option_of(const char* name, options_role role)
{
    for (int i = 0; i < OPTION_COUNT; i++)
    {
        if ((table[i].roles & (int)role) != 0 && strcmp(table[i].name, name) == 0) return &table[i];
    }
    return NULL;
}

static void set_defaults(options* o)
{
    *o = (options){.redis = "unix:/tmp/redis.sock", .user = "", .name = "alone", .guard = MARKET_FINE};
    o->password = getenv("REDISCLI_AUTH");
    o->seed = (uint64_t)time(NULL);
    o->players_max = 1000;
    o->logs = ".";
    o->database = "game.sqlite";
    o->servers = 2;
    o->workers = 1;
    o->bots = 200;
    o->seconds = isatty(STDOUT_FILENO) ? 0 : SECONDS_WITHOUT_TERMINAL;
}

bool options_parse(options* o, options_role role, int count, char** arguments, int* exit_code)
{
    set_defaults(o);
    *exit_code = 0;
    for (int i = 0; i < count; i++)
    {
        bool help = strcmp(arguments[i], "--help") == 0 || strcmp(arguments[i], "-h") == 0;
        const option* wanted = option_of(arguments[i], role);
        bool flag = wanted != NULL && wanted->kind == KIND_FLAG;
        bool valued = wanted != NULL && !flag && i + 1 < count;
        if (flag && read_value(o, wanted, "")) continue;
        if (valued && read_value(o, wanted, arguments[i + 1]))
        {
            i++;
            continue;
        }
        if (wanted != NULL) say_value(stderr, wanted);
        else if (!help) fprintf(stderr, "what does %s mean?\n\n", arguments[i]);
        say_options(help ? stdout : stderr, role);
        *exit_code = help ? 0 : 2;
        return false;
    }
    return true;
}
