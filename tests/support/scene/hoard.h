/* hoard.h -- a game that holds a thousand locks of one server, and how many ticks it takes until each is told that this
   server has lost it.

       hoard* self = hoard_start(&config, first_node_has);   // names that the function takes
       hoard_take(self);                                     // a thousand are held
       ... the server loses them ...
       hoard_loses_all(self);                                // LOST, all of them, within HOARD_TICKS and a round trip

   Some more may be asked for of a server that does not answer, and that has been replaced when it does: hoard_ask_late.

   Ticks count from the one in which the link to whoever has the names is ready again and all are granted, that one
   included. Those do not that begin when all has been asked and answers are still on their way, or with bytes that the
   socket did not take: that is the round trip, for which the machine and the server take their time. */

#ifndef GUILDHALL_TESTS_HOARD_H
#define GUILDHALL_TESTS_HOARD_H

#include "support/scene/game.h"

#define HOARD_LOCKS     1000u
#define HOARD_LATE      40u /* their requests are in one read of a server, which takes 16 KiB */
#define HOARD_ALL       (HOARD_LOCKS + HOARD_LATE)
#define HOARD_TICKS     8u
#define HOARD_NAME_SIZE 16

typedef struct hoarded
{
    gh_lock lock;
    char name[HOARD_NAME_SIZE];
    bool granted;  /* it was HELD once                                  */
    bool asked;    /* since the link is ready: whether it is still held */
    bool answered; /* what was asked                                    */
} hoarded;

typedef struct hoard
{
    game* owner;
    hoarded* each;
    uint32_t begun;
    uint32_t asked;
    uint32_t ticks;          /* that count                                    */
    bool counts;             /* the link is ready again, and all were granted */
    const void* former_node; /* whose link it was when they were taken        */
    uint32_t former_link;
} hoard;

/* Locks that are named by numbers; which of the names are meant, `has` says. Hooks are the hoard's. The link to their
   server is ready, and nothing was renewed over it. */
hoard* hoard_start(const gh_client_config* config, bool (*has)(const char* name));

/* Begins a thousand, and waits until the last is held. */
void hoard_take(hoard* self);

/* Begins some more, and waits until their requests have left. */
void hoard_ask_late(hoard* self);

/* Waits until those are held, too. */
void hoard_is_granted_late(hoard* self);

/* Each is told LOST; or each of the late ones, and all others are held. Fails where that takes too many ticks, or more
   than one question each. */
void hoard_loses_all(hoard* self);
void hoard_loses_late(hoard* self);

#endif
