/* command.h -- commands and scripts of the tests, said as one would type them.

   What they need (the words, the op, the reply memory) lives as long as the game that says them. */

#ifndef GUILDHALL_TESTS_COMMAND_H
#define GUILDHALL_TESTS_COMMAND_H

#include "support/scene/game.h"

#include <hiredis/hiredis.h>

/* The words of a line, split at its spaces. */
gh_str* words_of(game* owner, const char* line, size_t* count);

/* The defaults with the reply memory of that size, which may be 0. */
gh_command_config command_config(game* owner, gh_repeat repeat, size_t reply_size);

/* Begin; they must not be refused. A NULL config: command_config with 1 KiB and GH_REPEAT_NEVER. */
gh_command* say(game* from, const gh_command_config* config, const char* line);
gh_command* run_script(game* from, const gh_command_config* config, gh_script* script, const char* keys,
                       const char* arguments);

/* A script on its own, not yet used. The text is copied. */
gh_script* script_new(game* owner, const char* text);

/* A lock that is held, and a config with its fence (or any other) and 1 KiB of reply memory. */
gh_lock* command_lock(game* from, const char* name, uint64_t lease_us);
gh_command_config fenced_config(game* owner, gh_fence fence);

/* Ticks all games until it has ended. */
gh_status settle_command(const gh_command* command);

/* Ends as expected, or the test fails; shows what the server said. */
#define assert_ends(command, expected)                                                                       \
    do                                                                                                       \
    {                                                                                                        \
        const gh_command* ends_command = (command);                                                          \
        gh_status ends_status = settle_command(ends_command);                                                \
        if (ends_status != (expected))                                                                       \
            fail_msg("%s ends %s, not %s: %.*s", #command, gh_status_name(ends_status),                      \
                     gh_status_name(expected), (int)ends_command->reply.text.size,                           \
                     ends_command->reply.text.bytes);                                                        \
    } while (0)

/* The reply's text as a NUL-ended string that lives as long as the game; there must be a reply. */
const char* reply_text(game* owner, const gh_command* command);

/* True if both are the same value, all the way down. */
bool reply_equals(const gh_reply* reply, const redisReply* expected);

/* The reply_size that command.h says is needed. */
size_t reply_size_of(const redisReply* reply);

#endif
