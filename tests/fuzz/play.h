/* play.h -- a whole client with ops of every system, led by an input: what is begun, used, cancelled and forgotten, when
   there is a tick, what the peer says and when it goes, and how it all ends.

       config | dice of the streams | steps | answers of the peer

   with the length of the dice and of the steps in front of them. A step is what to do, with which place, and a slice to
   draw the rest from; each answer draws from a slice of its own. What is not there is zeros, and these are what a game
   and a good server would say. So a change somewhere leaves the rest as it was.

   Whatever comes: nobody touches what is not theirs, each op ends once and stays as it ended, a drain is over in time,
   and after a shutdown nothing knows of the client any more. */

#ifndef GUILDHALL_TESTS_FUZZ_PLAY_H
#define GUILDHALL_TESTS_FUZZ_PLAY_H

#include "world.h"

typedef enum play_peer
{
    PLAY_WELL = 0, /* hand-shakes are answered, and scripts with what their shape allows, without errors */
    PLAY_HOSTILE,  /* hostile.h                                                                          */
    PLAY_STORE,    /* the rules have it                                                                  */
    PLAY_RAW       /* the input says the bytes; requests are answered only when it says so               */
} play_peer;

typedef struct play_rules
{
    play_peer peer;
    bool checks_words; /* see world.h */
    bool starts_ready; /* else ops are begun before the hand-shake */
    bool shuts_down;   /* also in the middle, and ops are used and begun after that */

    /* Of PLAY_STORE: made for each input, asked, harmed between two ticks, and gone. */
    void (*start)(world* of);
    world_answer* answer;
    void (*harm)(world* of, fuzz_input* input);
    void (*end)(world* of);
} play_rules;

void play(const play_rules* rules, const uint8_t* data, size_t size);


#endif
