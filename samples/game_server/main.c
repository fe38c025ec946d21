/* game_server -- a world at 60 frames a second, and the processes that it takes: a fleet that shares one
   store.

       game_server ROLE [options]        ROLE --help says more

   From the ground up; no folder knows one that comes later in this list:

       messages.h   what players and servers say to each other
       market/      the store's side of the trade, step by step
       logs/        what happened goes out as files, and comes back as totals by country
       worker/      tasks: what is to be done later, or by somebody else; jobs.h says which
       server/      the game: the frame loop is server.c; then seats.h, trade.h, social.h
       bots/        players: real connections that check what they are told; crowd.h says how
       fleet/       starts all of these, shows how they are, ends them, and adds up

   All roles use member.c (client, clock, and a row of board.c for the view), frame.c (the clock of the
   loops), histogram.c, options.c, stop.c and random.h. */

#include "roles.h"
#include "stop.h"

#include <stdio.h>

typedef struct role
{
    options_role bit;
    const char* name;
    int (*run)(const options* o);
    const char* purpose;
} role;

static const role roles[] = {
    {ROLE_FLEET, "fleet", fleet_main, "starts all the others, shows how they are, ends them, adds up"},
    {ROLE_AGGREGATOR, "aggregator", aggregator_main, "adds the servers' log files to the totals of the day"},
    {ROLE_SERVER, "server", server_main, "a game server"},
    {ROLE_BOTS, "bots", bots_main, "players that check what they are told"},
    {ROLE_WORKER, "worker", worker_main,
     "does what servers leave to be done: tells sellers, opens and ends offers, sends mail"},
    {0, NULL, NULL, NULL},
};

/* ---- The role ------------------------------------------------------------------------------------------ */

static int say_roles(FILE* out, int exit_code)
{
    fputs("game_server ROLE [options]; ROLE --help says more\n\n", out);
    for (const role* r = roles; r->name != NULL; r++) fprintf(out, "  %-12s%s\n", r->name, r->purpose);
    return exit_code;
}

static const role* role_of(const char* name)
{
    const role* r = roles;
    while (r->name != NULL && strcmp(r->name, name) != 0) r++;
    return r->name == NULL ? NULL : r;
}

int role_main(const char* name, int count, char** arguments)
{
    options o;
    int exit_code = 0;
    if (!options_parse(&o, role_of(name)->bit, count, arguments, &exit_code)) return exit_code;
    return role_of(name)->run(&o);
}

int main(int argc, char** argv)
{
    bool named = argc > 1 && argv[1][0] != '-';
    const role* r = role_of(named ? argv[1] : "fleet");
    if (r == NULL) return say_roles(stderr, 2);

    static options o;
    int exit_code = 0;
    int skipped = named ? 2 : 1;
    if (!options_parse(&o, r->bit, argc - skipped, argv + skipped, &exit_code))
    {
        if (!named) say_roles(exit_code == 0 ? stdout : stderr, 0);
        return exit_code;
    }
    stop_catch_signals();
    return r->run(&o);
}
