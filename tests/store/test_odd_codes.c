/* Codes that no script of ours answers, in answers that are as they should be otherwise: what they mean nobody knows,
   so what changes something ends UNKNOWN, and what reads CORRUPT. In a world that is made up. */

#include "support/scene/on.h"
#include "support/server/odd.h"

#define NAME gh_str_literal("thing")

/* limit, used, waiters, more, now */
static void limit_of_a_code_that_is_none(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    gh_semaphore_limit* op = SCRIPTED_NEW(self->world, gh_semaphore_limit);
    const gh_semaphore* arena = ON_SEMAPHORE(self->world->client, NAME, 0);
    assert_status(gh_semaphore_limit_begin(op, arena, 9), GH_OK);
    assert_status(odd_told(self, &op->op, "t99 9 0 0 0 5"), GH_UNKNOWN);
    assert_status(gh_semaphore_limit_begin(op, arena, 9), GH_OK);
    assert_status(odd_told(self, &op->op, "t1 8 0 0 0 5"), GH_OK);
    assert_int_equal(op->limit, 8);
}

/* now, one letter */
static void rules_of_a_letter_that_is_none(void** state)
{
    (void)state;
    static const char* const broken[] = {"t5 n", "t5 z", "t5 oo"};
    odd* self = odd_start(NULL);
    gh_tasks_control* op = SCRIPTED_NEW(self->world, gh_tasks_control);
    gh_queue queue;
    assert_status(gh_queue_init(&queue, self->world->client, NAME, NULL), GH_OK);
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
    {
        assert_status(gh_tasks_control_begin(op, &queue, NULL), GH_OK);
        assert_status(odd_told(self, &op->op, broken[i]), GH_UNKNOWN);
    }
    assert_status(gh_tasks_control_begin(op, &queue, NULL), GH_OK);
    assert_status(odd_told(self, &op->op, "t5 o"), GH_OK);
}

typedef struct hall
{
    gh_chat_commit commit;
    gh_chat_fetch fetch;
    gh_chat_members roster;
    gh_chat_change change;
    gh_chat_member member;
    gh_chat_member_item item;
    _Alignas(8) char buffer[1024];
} hall;

static gh_op* commit_to(odd* self, hall* of)
{
    of->member.name = NAME;
    of->member.handled = 1;
    assert_status(gh_chat_commit_begin(&of->commit, ON_CHAT(self->world->client, NAME), 7, &of->member, 1), GH_OK);
    return &of->commit.op;
}

static gh_op* fetch_from(odd* self, hall* of)
{
    gh_chat_fetch_config config = gh_chat_fetch_config_default();
    config.buffer = of->buffer;
    config.buffer_size = sizeof(of->buffer);
    of->member.name = NAME;
    assert_status(gh_chat_fetch_begin(&of->fetch, ON_CHAT(self->world->client, NAME), &of->member, 1, &config), GH_OK);
    return &of->fetch.op;
}

static gh_op* list_members(odd* self, hall* of)
{
    assert_status(gh_chat_members_begin(&of->roster, ON_CHAT(self->world->client, NAME), &of->item, 1), GH_OK);
    return &of->roster.op;
}

static gh_op* join(odd* self, hall* of)
{
    assert_status(gh_chat_join_begin(&of->change, ON_CHAT(self->world->client, NAME), NAME, GH_CHAT_FROM_NOW), GH_OK);
    return &of->change.op;
}

/* epoch, first id, last id, now, largest, epochs that are over, seen */
static void chat_of_a_code_that_is_none(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    hall* of = SCRIPTED_NEW(self->world, hall);
    assert_status(odd_told(self, commit_to(self, of), "q:99|:7|:1|:1|:1000|:0|$|:1"), GH_UNKNOWN);
    assert_status(odd_told(self, commit_to(self, of), "q:2|:7|:1|:1|:1000|:0|$|:1"), GH_RESTARTED);
    assert_status(odd_told(self, commit_to(self, of), "q:0|:7|:1|:1|:1000|:0|$|:1"), GH_OK);
    assert_status(odd_told(self, fetch_from(self, of), "q:99|:7|:1|:1|:1000|:0|$|:1"), GH_CORRUPT);
    assert_status(odd_told(self, fetch_from(self, of), "q:0|:7|:1|:1|:1000|:0|$|:1"), GH_EMPTY);
    assert_status(odd_told(self, list_members(self, of), "q:99|:7|:1|$0|$|$1 a5 "), GH_CORRUPT);
    assert_status(odd_told(self, list_members(self, of), "q:0|:7|:1|$0|$|$1 a5 "), GH_OK);
    assert_status(odd_told(self, join(self, of), "t99"), GH_UNKNOWN);
    assert_status(odd_told(self, join(self, of), "t1"), GH_FULL);
}

TEST_FILE(odd_codes, cmocka_unit_test(limit_of_a_code_that_is_none), cmocka_unit_test(rules_of_a_letter_that_is_none),
          cmocka_unit_test(chat_of_a_code_that_is_none));
