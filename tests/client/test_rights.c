/* What the store's user may not call from inside scripts is found before a script of ours has written anything, and
   named; and what is taken away while the link is up stops one script at most. */

#include "support/scene/drill.h"
#include "support/random.h"

#include "client/script_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char* const commands[] = {
#define COMMAND_NAME(name) #name,
    GH_COMMAND_LIST(COMMAND_NAME)
#undef COMMAND_NAME
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static const char* const scripts[] = {
#define SCRIPT_NAME(name) #name,
    GH_SCRIPT_LIST(SCRIPT_NAME)
#undef SCRIPT_NAME
};

static const gh_script_text* const texts[] = {
#define SCRIPT_TEXT(name) &gh_##name##_lua,
    GH_SCRIPT_LIST(SCRIPT_TEXT)
#undef SCRIPT_TEXT
};

/* The bits of the commands that any script of the system calls; "chat" has chat_send and chats_add. */
static uint64_t commands_of(const drill_system* system)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < GH_SCRIPT_COUNT; i++)
        if (strncmp(scripts[i], system->name, strlen(system->name)) == 0) bits |= texts[i]->commands;
    return bits;
}

static void set_right(drill* self, char sign, const char* command)
{
    if (sign == '+') redis_server_do(self->server, "ACL SETUSER default +@all");
    else redis_server_do(self->server, "ACL SETUSER default -%s", command);
}

static void reconnect(drill* self)
{
    uint64_t ready = game_stats(self->game).links_ready;
    redis_server_do(self->server, "CLIENT KILL TYPE normal SKIPME yes");
    GAME_UNTIL(game_stats(self->game).links_ready > ready);
}

/* A text that stands for all that is in the store. */
static void digest_of(drill* self, char digest[64])
{
    static const char script[] = "local keys, all = redis.call('KEYS', '*'), {} table.sort(keys) "
                                 "for i, key in ipairs(keys) do all[i] = key .. redis.sha1hex(redis.call('DUMP', key)) "
                                 "end "
                                 "return redis.sha1hex(table.concat(all))";
    snprintf(digest, 64, "%s", redis_server_text(self->server, "EVAL %s 0", script));
}

/* Ops of several scripts: those before the one that is refused have written, each as a whole. */
static bool takes_several_scripts(const drill_system* system)
{
    return system == &drill_chat || system == &drill_files || system == &drill_aggregate;
}

/* True if the op could not do without it. */
static bool try_without(drill* self, const drill_case* of, const char* command)
{
    char before[64];
    char after[64];
    gh_status status;
    drill_restore(self, of);
    set_right(self, '-', command);
    reconnect(self);
    self->game->last_error[0] = 0;
    digest_of(self, before);
    status = drill_run(self, of);
    set_right(self, '+', command);
    if (strstr(self->game->last_error, "can't run this command") != NULL)
        fail_msg("%s.%s without %s: a script was stopped: %s", self->system->name, of->name, command,
                 self->game->last_error);
    if (status == GH_REFUSED)
    {
        if (strstr(self->game->last_error, "lacks rights to call:") == NULL ||
            strstr(self->game->last_error, command) == NULL)
            fail_msg("%s.%s without %s is told: %s", self->system->name, of->name, command, self->game->last_error);
        digest_of(self, after);
        if (!takes_several_scripts(self->system) && strcmp(before, after) != 0)
            fail_msg("%s.%s without %s has written", self->system->name, of->name, command);
    }
    drill_new_game(self);
    return status == GH_REFUSED;
}

static void each_missing_right_is_named(const drill_system* system)
{
    drill* self = drill_start(system);
    uint64_t bits = commands_of(system);
    size_t refused = 0;
    size_t at = 0;
    for (size_t i = 0; i < COMMAND_COUNT; i++)
    {
        bool is_the_epochs = strcmp(commands[i], "TIME") == 0 || strcmp(commands[i], "GET") == 0;
        if ((bits >> i & 1) == 0 || is_the_epochs) continue; /* without those the hand-shake itself is refused */
        for (size_t tries = 0; tries < system->count && !try_without(self, &system->cases[at], commands[i]); tries++)
            at = (at + 1) % system->count;
        refused++;
    }
    assert_true(refused > 0);
}

#define RIGHTS_TEST(system)                                                                                            \
    static void system##_names_each_missing_right(void** state)                                                        \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        each_missing_right_is_named(&drill_##system);                                                                  \
    }
DRILL_SYSTEMS(RIGHTS_TEST)

/* The same where the server has forgotten its scripts since: the question is brought there anew. */
static void right_goes_where_scripts_were_flushed(void** state)
{
    (void)state;
    drill* self = drill_start(&drill_mailbox);
    const drill_case* push = &drill_mailbox.cases[0];
    drill_restore(self, push);
    redis_server_do(self->server, "SCRIPT FLUSH");
    set_right(self, '-', "rpush");
    assert_status(drill_run(self, push), GH_UNKNOWN);
    for (int i = 0; i < 3; i++)
    {
        drill_restore(self, push);
        assert_status(drill_run(self, push), GH_REFUSED);
    }
    assert_non_null(strstr(self->game->last_error, "lacks rights to call: RPUSH"));
    assert_int_equal(game_stats(self->game).links_lost, 0);
}

/* Taken away while the link is up: what may have written before it was stopped is UNKNOWN; the next op finds the right
   missing before it writes; and when it is given back, ops go on by themselves. */
static void right_that_goes_and_comes(void** state)
{
    (void)state;
    drill* self = drill_start(&drill_mailbox);
    const drill_case* push = &drill_mailbox.cases[0];
    gh_status status;
    drill_restore(self, push);
    set_right(self, '-', "rpush");
    status = drill_run(self, push);
    assert_status(status, GH_UNKNOWN);
    drill_restore(self, push);
    status = drill_run(self, push);
    assert_status(status, GH_REFUSED);
    assert_non_null(strstr(self->game->last_error, "lacks rights to call: RPUSH"));
    set_right(self, '+', "rpush");
    do
    {
        drill_restore(self, push);
        status = drill_run(self, push);
    } while (status == GH_REFUSED);
    assert_status(status, push->healthy);
    assert_int_equal(game_stats(self->game).links_lost, 0);
}

#define RIGHTS_TEST_NAME(system) cmocka_unit_test(system##_names_each_missing_right),
TEST_FILE(rights, DRILL_SYSTEMS(RIGHTS_TEST_NAME) cmocka_unit_test(right_that_goes_and_comes),
          cmocka_unit_test(right_goes_where_scripts_were_flushed));
