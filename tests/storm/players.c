/* players.c -- starting, killing and waiting for the players. */

#include "storm/players.h"

#include "storm/storm.h"
#include "support/process.h"
#include "support/wait.h"

#include <stdio.h>

typedef struct player_process
{
    child_process* child;
    storm_who who;
    bool frozen;
} player_process;

static player_process players[STORM_PLAYERS_MAX];
static unsigned crashed;

static void start(unsigned player)
{
    player_process* p = &players[player];
    p->who.process = (uint8_t)player;
    p->child = child_start(player_run, &p->who);
    p->frozen = false;
}

void players_start(void)
{
    for (unsigned i = 0; i < storm.players; i++) start(i);
}

static void mark_killed(unsigned player)
{
    storm_event event = {.system = STORM_CORE, .what = MARK_KILLED, .object = (uint8_t)player};
    (void)history_event((storm_who){0, 0, 0}, event);
}

void players_kill(unsigned player)
{
    player_process* p = &players[player];
    if (p->child == NULL) return;
    child_end(p->child);
    p->child = NULL;
    p->who.life++;
    mark_killed(player);
}

void players_revive(unsigned player)
{
    if (players[player].child == NULL) start(player);
}

void players_freeze(unsigned player)
{
    if (players[player].child == NULL) return;
    child_freeze(players[player].child);
    players[player].frozen = true;
}

void players_thaw(unsigned player)
{
    if (players[player].child == NULL) return;
    child_thaw(players[player].child);
    players[player].frozen = false;
}

static void note_crash(unsigned player)
{
    crashed++;
    printf("storm: player %u ended by itself with %d\n", player, child_wait(players[player].child));
}

void players_look(void)
{
    for (unsigned i = 0; i < storm.players; i++)
    {
        if (players[i].child == NULL || players[i].frozen || !child_has_ended(players[i].child)) continue;
        note_crash(i);
        players_kill(i);
        start(i);
    }
}

bool players_wait(uint64_t cap_us)
{
    uint64_t end_us = history_now() + cap_us;
    for (unsigned i = 0; i < storm.players; i++)
    {
        while (players[i].child != NULL && !child_has_ended(players[i].child))
        {
            if (history_now() > end_us) return false;
            wait_briefly();
        }
        if (players[i].child != NULL && child_wait(players[i].child) != 0) note_crash(i);
    }
    return true;
}

unsigned players_crashed(void)
{
    return crashed;
}
