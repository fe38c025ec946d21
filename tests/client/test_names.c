/* A name is copied by the begin that it is given to: what its bytes are afterwards is no matter. */

#include "support/scene/everything.h"
#include "support/server/redis_server.h"

#include <string.h>

static void nothing_is_done_under_what_came_after(void** state)
{
    (void)state;
    static const char script[] = "local found = 0 for _, key in ipairs(redis.call('KEYS', '*')) do"
                                 " if string.find(key, ARGV[1], 1, true) then found = found + 1 end end return found";
    const char gone[] = {'%', "0123456789abcdef"[EVERYTHING_GONE >> 4], "0123456789abcdef"[EVERYTHING_GONE & 15], 0};
    redis_server* server = redis_server_start(NULL);
    game* self = game_start_ready(redis_server_address(server));
    everything* all = everything_new(self);
    everything_begin(all, self->client, true);
    GAME_UNTIL(everything_use(all));
    assert_int_equal(redis_server_integer(server, "EVAL %s 0 %s", script, gone), 0);
    assert_int_not_equal(redis_server_integer(server, "EVAL %s 0 %s", script, "sword"), 0);
    redis_server_do(server, "SET %s 1", "gh:{lock:%21}:s"); /* it would have been found */
    assert_int_equal(redis_server_integer(server, "EVAL %s 0 %s", script, gone), 1);
}

TEST_FILE(names, cmocka_unit_test(nothing_is_done_under_what_came_after));
