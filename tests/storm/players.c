/* players.c -- starting, killing and waiting for the players. */

#include "storm/players.h"

#include "storm/board.h"
#include "storm/builds.h"
#include "storm/storm.h"
#include "support/process.h"
#include "support/wait.h"

#include <stdio.h>

typedef struct player_process
{
    child_process* child;
    storm_who who;
    bool frozen;
    bool goes;  /* it has been told to end */
    bool other; /* of the other build */
} player_process;

static player_process players[STORM_PLAYERS_MAX];
static unsigned crashed;

static void start(unsigned player)
{
    player_process* p = &players[player];
    p->who.process = (uint8_t)player;
    p->frozen = p->goes = false;
    board->leaves[player] = false;
    p->child = child_start(p->other ? builds_run_other : player_run, &p->who);
}

/* With another build, both are there from the beginning. */
void players_start(void)
{
    random_stream random = storm_random("build", 0, 0, 0);
    uint64_t first = random_below(&random, 2);
    for (unsigned i = 0; i < storm.players; i++)
    {
        players[i].other = storm.other != NULL && (i + first) % 2 == 0;
        start(i);
    }
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
    player_process* p = &players[player];
    if (p->child != NULL) return;
    random_stream random = storm_random("build", player, p->who.life, 0);
    p->other = storm.other != NULL && random_one_in(&random, 2);
    start(player);
}

bool players_send_off(unsigned player)
{
    player_process* p = &players[player];
    if (p->child == NULL || p->frozen) return false;
    p->goes = true;
    board->leaves[player] = true;
    return true;
}

bool players_has_gone(unsigned player)
{
    player_process* p = &players[player];
    return p->child == NULL || child_has_ended(p->child);
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

void players_replace(unsigned player)
{
    player_process* p = &players[player];
    bool gone = p->child != NULL && child_has_ended(p->child);
    if (gone && child_wait(p->child) != 0) note_crash(player);
    if (gone && child_wait(p->child) == 0)
    {
        child_end(p->child);
        p->child = NULL;
        p->who.life++;
    }
    players_kill(player);
    p->other = !p->other;
    start(player);
}

void players_look(void)
{
    for (unsigned i = 0; i < storm.players; i++)
    {
        if (players[i].child == NULL || players[i].frozen || players[i].goes || !child_has_ended(players[i].child))
            continue;
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
