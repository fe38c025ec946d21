/* Numbers in the keys of mailboxes and chats that anybody may have written: those that Lua takes for one and KEYS.md
   does not, and those behind which nothing fits. */

#include "support/scene/talk.h"

#define KEEP 1000
#define MANY 1000

static gh_status say_in_raid(game* from)
{
    return chat_say(from, "raid", talk_numbers(from, "joe", 1, 0), 1);
}

/* What Lua takes for a number, and is none as KEYS.md has it: a generation of nan is older than no other, so ids would
   be given twice; and no count of members reaches a bound of nan. */
static void odd_numbers_let_nobody_in(void** state)
{
    (void)state;
    static const char* const numbers[] = {"nan", "-nan", "inf", "0x10", "1e3", " 7", "7.0", "-1", ""};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    assert_status(mailbox_push_one(a, "jeff"), GH_OK);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
    {
        redis_server_do(server, "COPY gh:{chat:raid}:s whole");
        redis_server_do(server, "HSET gh:{chat:raid}:s g %s", numbers[i]);
        redis_server_do(server, "HSET gh:{mailbox:jeff}:s g %s", numbers[i]);
        assert_status(say_in_raid(a), GH_CORRUPT);
        assert_status(chat_enter(a, "raid", "ann", GH_CHAT_FROM_NOW), GH_CORRUPT);
        assert_status(mailbox_push_one(a, "jeff"), GH_CORRUPT);
        redis_server_do(server, "RENAME whole gh:{chat:raid}:s");
        redis_server_do(server, "COPY gh:{chat:raid}:s whole");
        redis_server_do(server, "HSET gh:{chat:raid}:s c %s", numbers[i]);
        assert_status(chat_enter(a, "raid", "ann", GH_CHAT_FROM_NOW), GH_CORRUPT);
        redis_server_do(server, "RENAME whole gh:{chat:raid}:s");
    }
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{chat:raid}:v"), 1);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{mailbox:jeff}:m"), 1);
    assert_status(chat_enter(a, "raid", "ann", GH_CHAT_FROM_NOW), GH_OK);
}

/* Nothing is stored under an id or an epoch that the next reader would call corrupt. */
static void numbers_at_their_ends_are_not_passed(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe", KEEP, MANY), GH_OK);
    redis_server_do(server, "HSET gh:{chat:raid}:s n 9007199254740000");
    assert_status(say_in_raid(a), GH_CORRUPT);
    redis_server_do(server, "HSET gh:{chat:raid}:s n 5 e 9007199254740000 g 1");
    assert_status(say_in_raid(a), GH_CORRUPT);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{chat:raid}:m"), 0);

    redis_server_do(server, "HSET gh:{mailbox:jeff}:s e 7 n 9007199254740000 g 0");
    assert_status(mailbox_push_one(a, "jeff"), GH_CORRUPT);
    redis_server_do(server, "HSET gh:{mailbox:jeff}:s e 9007199254740000 n 5 g 1");
    assert_status(mailbox_push_one(a, "jeff"), GH_CORRUPT);
    redis_server_do(server, "DEL gh:{mailbox:jeff}:s");
    redis_server_do(server, "RPUSH gh:{mailbox:jeff}:m %s", "5 99999999999999999999 0 x"); /* an epoch is made of it */
    assert_status(mailbox_push_one(a, "jeff"), GH_CORRUPT);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{mailbox:jeff}:m"), 1);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{mailbox:jeff}:s"), 0);
}

TEST_FILE(talk_numbers, cmocka_unit_test(odd_numbers_let_nobody_in),
          cmocka_unit_test(numbers_at_their_ends_are_not_passed));
