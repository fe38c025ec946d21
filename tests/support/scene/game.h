/* game.h -- game servers of the tests: clients in memory of their own, ticked with the true clock, less what a machine
   took that stood still between two ticks.

   GAME_UNTIL ticks every game that was started and not ended, in turn, as a fleet would run. Games are ended after the
   test by themselves. An assertion of the library ends the process: tests that want one set a hook of their own. */

#ifndef GUILDHALL_TESTS_GAME_H
#define GUILDHALL_TESTS_GAME_H

#include "support/suite.h"
#include "support/wait.h"

#include "guildhall/guildhall.h"

typedef struct game
{
    gh_client* client;
    gh_client_config config;
    void* memory;
    size_t memory_size;
    int64_t ahead_us;         /* how far this game's clock is ahead of the true one; a test may change it */
    uint64_t step_max_us;     /* a longer pause between two ticks counts as so much; 0: all of it counts  */
    uint64_t ticked_us;       /* when the last tick was; 0 after it was asleep, which counts              */
    bool asleep;              /* GAME_UNTIL leaves it alone: a process that hangs                         */
    unsigned errors_logged;
    unsigned warnings_logged;
    char last_error[256];     /* the last line that was logged as an error */
    struct game_object* objects;
    struct secure_way* way;   /* with --tls; else NULL */
    struct fronted_way* fleet; /* with --cluster and --sentinel; else NULL */
    struct game* next;
} game;

/* Zeroed memory that lives as long as the game: ops must outlive a test that fails in their middle. */
#define GAME_NEW(owner, type) ((type*)game_new((owner), sizeof(type)))
#define GAME_NEW_ARRAY(owner, type, count) ((type*)game_new((owner), sizeof(type) * (count)))
void* game_new(game* owner, size_t size);

/* What tests begin with: the address, a prefix, time-outs that fit a slow machine, hooks. */
gh_client_config game_config(const char* address);

/* The same, for the master that these Sentinels name. */
gh_client_config game_config_behind(const char* seeds);

/* The config is changed where it has no hooks, so that log lines and assertions are seen. */
game* game_start_with(const gh_client_config* config);

/* The same with a platform of the test's own, whatever run it is. */
game* game_start_on(const gh_client_config* config, const gh_platform* platform);

/* With game_config, and the prefix "gh". */
game* game_start(const char* address);

/* Started, and ticked until its link is ready. */
game* game_start_ready(const char* address);

/* Listens for no hints: it has one connection. */
game* game_start_deaf(const char* address);

/* Waits half a minute for an answer, by the game's clock, and listens for no hints: for what a proxy holds back. */
game* game_start_patient(const char* address);

/* Shuts the client down and frees its memory. */
void game_end(game* ended);

/* One tick, no budget. */
void game_tick(game* self);

/* One tick of every game that is awake, then a short pause. */
void game_tick_all(void);

/* The game's clock. */
uint64_t game_now_us(const game* self);

gh_client_stats game_stats(const game* self);

/* In a child process: forgets the games of the parent, which the child must not touch. */
void game_forget_all(void);

/* Ticks all games until the condition holds; fails the test after the cap of wait.h. */
#define GAME_UNTIL(condition)                                                                                        \
    do                                                                                                               \
    {                                                                                                                \
        uint64_t game_end_us = wait_cap_us();                                                                        \
        while (!(condition))                                                                                         \
        {                                                                                                            \
            if (wait_now_us() >= game_end_us) fail_msg("waited too long for: %s", #condition);                       \
            game_tick_all();                                                                                         \
        }                                                                                                            \
    } while (0)

#define SECOND_US UINT64_C(1000000)

#define assert_status(actual, expected)                                                                              \
    do                                                                                                               \
    {                                                                                                                \
        gh_status actual_status = (actual);                                                                          \
        if (actual_status != (expected))                                                                             \
            fail_msg("%s is %s, not %s", #actual, gh_status_name(actual_status), gh_status_name(expected));          \
    } while (0)

/* Its begin was refused, which is how it has ended, and nothing else has changed; of a busy one nothing at all. */
#define assert_begin_refused(subject, before, expected)                                                              \
    do                                                                                                               \
    {                                                                                                                \
        if ((expected) == GH_INVALID_OP)                                                                             \
        {                                                                                                            \
            assert_memory_equal(subject, before, sizeof(*(subject)));                                                \
            break;                                                                                                   \
        }                                                                                                            \
        assert_status(gh_op_poll(&(subject)->op), expected);                                                         \
        assert_false(gh_op_is_busy(&(subject)->op));                                                                 \
        assert_ptr_equal((subject)->op.user, (before)->op.user);                                                     \
        assert_int_equal((subject)->op.tag, (before)->op.tag);                                                       \
        assert_memory_equal(&(subject)->op + 1, &(before)->op + 1, sizeof(*(subject)) - sizeof(gh_op));              \
    } while (0)

#endif
