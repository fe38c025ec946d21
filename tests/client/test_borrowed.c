/* What an op borrows of its caller is left as it is until the op has ended: an assertion hook is told of whoever
   changes it before that, once for each change, and of nobody else. */

#include "support/scene/game.h"
#include "support/server/redis_server.h"

#include <stdio.h>
#include <string.h>

static unsigned told;
static char last_told[256];

static bool note_assertion(void* context, const char* file, int line, const char* expression)
{
    (void)context, (void)file, (void)line;
    snprintf(last_told, sizeof(last_told), "%s", expression);
    told++;
    return false;
}

/* All that a case lends: `word` is somewhere in it, not in the first element where there are several. */
typedef struct lent
{
    game* owner;
    unsigned runs; /* names of what must be new */
    char word[16];
    char text[64];
    char* byte; /* to be changed: in word, if the case does not say otherwise */
    gh_str strings[3];
    gh_post posts[2];
    gh_task_spec specs[2];
    gh_task_ref refs[2];
    gh_task tasks[2];
    gh_guild_member guild_members[2];
    gh_chat_member members[2];
    gh_script script;
    gh_contacts contacts;
    char memory[65536];
    char file_memory[262144] __attribute__((aligned(16)));

    gh_command command;
    gh_mailbox_push mailbox_push;
    gh_chat_change chat_change;
    gh_chat_send chat_send;
    gh_chat_commit chat_commit;
    gh_chat_fetch chat_fetch;
    gh_tasks_push tasks_push;
    gh_tasks_edit tasks_edit;
    gh_tasks_take tasks_take;
    gh_tasks_finish tasks_finish;
    gh_tasks_extend tasks_extend;
    gh_contacts_change contacts_change;
    gh_guild_change guild_change;
    gh_guild_has guild_has;
    gh_file_send file_send;
} lent;

static gh_str word(const lent* all)
{
    return gh_str_of(all->word);
}

/* ---- one of each --------------------------------------------------------------------------------------------------
 */

static gh_op* begin_command(lent* all)
{
    all->strings[0] = gh_str_literal("ECHO");
    all->strings[1] = word(all);
    assert_status(gh_command_begin(&all->command, all->owner->client, all->strings, 2, NULL), GH_OK);
    return &all->command.op;
}

static gh_op* begin_script(lent* all, gh_str key, gh_str argument)
{
    memset(&all->script, 0, sizeof(all->script));
    snprintf(all->text, sizeof(all->text), "return %u%u", all->runs, 9u);
    all->script.text = gh_str_of(all->text);
    all->strings[0] = key;
    all->strings[1] = argument;
    assert_status(
        gh_script_begin(&all->command, all->owner->client, &all->script, all->strings, 1, all->strings + 1, 1, NULL),
        GH_OK);
    return &all->command.op;
}

static gh_op* begin_script_key(lent* all)
{
    return begin_script(all, word(all), gh_str_literal("x"));
}

static gh_op* begin_script_argument(lent* all)
{
    return begin_script(all, gh_str_literal("x"), word(all));
}

static gh_op* begin_script_text(lent* all)
{
    gh_op* op = begin_script(all, gh_str_literal("x"), gh_str_literal("x"));
    all->byte = all->text + strlen(all->text) - 1;
    return op;
}

static void fill_posts(lent* all, gh_str sender, gh_str body)
{
    all->posts[0].sender = gh_str_literal("jason");
    all->posts[0].body = gh_str_literal("hello");
    all->posts[1].sender = sender;
    all->posts[1].body = body;
}

static gh_op* begin_mailbox_push(lent* all)
{
    gh_mailbox mailbox;
    assert_status(gh_mailbox_init(&mailbox, all->owner->client, gh_str_literal("mail"), NULL), GH_OK);
    assert_status(gh_mailbox_push_begin(&all->mailbox_push, &mailbox, all->posts, 2), GH_OK);
    return &all->mailbox_push.op;
}

static gh_op* begin_mailbox_body(lent* all)
{
    fill_posts(all, gh_str_literal("jeff"), word(all));
    return begin_mailbox_push(all);
}

static gh_op* begin_mailbox_sender(lent* all)
{
    fill_posts(all, word(all), gh_str_literal("hello"));
    return begin_mailbox_push(all);
}

static gh_chat chat_of(lent* all, const char* format)
{
    gh_chat chat;
    char name[32];
    snprintf(name, sizeof(name), format, all->runs);
    assert_status(gh_chat_init(&chat, all->owner->client, gh_str_of(name), NULL), GH_OK);
    return chat;
}

static gh_op* create_chat(lent* all, gh_str member, gh_str body)
{
    const gh_chat chat = chat_of(all, "new %u");
    fill_posts(all, gh_str_literal("jeff"), body);
    all->strings[0] = gh_str_literal("jason");
    all->strings[1] = gh_str_literal("jeff");
    all->strings[2] = member;
    assert_status(gh_chat_create_begin(&all->chat_change, &chat, all->strings, 3, &all->posts[1]), GH_OK);
    return &all->chat_change.op;
}

static gh_op* begin_chat_create_member(lent* all)
{
    return create_chat(all, word(all), gh_str_literal("hello"));
}

static gh_op* begin_chat_create_post(lent* all)
{
    return create_chat(all, gh_str_literal("jill"), word(all));
}

static gh_op* begin_chat_send(lent* all)
{
    const gh_chat chat = chat_of(all, "chat");
    fill_posts(all, gh_str_literal(""), word(all));
    assert_status(gh_chat_send_begin(&all->chat_send, &chat, all->posts, 2), GH_OK);
    return &all->chat_send.op;
}

static void fill_members(lent* all)
{
    memset(all->members, 0, sizeof(all->members));
    all->members[0].name = gh_str_literal("jason");
    all->members[1].name = word(all);
    all->members[0].handled = all->members[1].handled = 1;
}

static gh_op* begin_chat_commit(lent* all)
{
    const gh_chat chat = chat_of(all, "chat");
    fill_members(all);
    assert_status(gh_chat_commit_begin(&all->chat_commit, &chat, 1, all->members, 2), GH_OK);
    return &all->chat_commit.op;
}

static gh_op* begin_chat_fetch(lent* all)
{
    const gh_chat chat = chat_of(all, "chat");
    gh_chat_fetch_config config = gh_chat_fetch_config_default();
    config.buffer = all->file_memory;
    config.buffer_size = sizeof(all->file_memory);
    fill_members(all);
    assert_status(gh_chat_fetch_begin(&all->chat_fetch, &chat, all->members, 2, &config), GH_OK);
    return &all->chat_fetch.op;
}

static gh_queue queue_of(lent* all, const char* name)
{
    gh_queue queue;
    assert_status(gh_queue_init(&queue, all->owner->client, gh_str_of(name), NULL), GH_OK);
    return queue;
}

static gh_op* push_task(lent* all, const char* name)
{
    const gh_queue queue = queue_of(all, name);
    assert_status(gh_tasks_push_begin(&all->tasks_push, &queue, all->specs, 2), GH_OK);
    return &all->tasks_push.op;
}

static gh_op* begin_push_payload(lent* all)
{
    all->specs[1].payload = word(all);
    return push_task(all, "works");
}

static gh_op* begin_push_handler(lent* all)
{
    all->specs[1].handler = word(all);
    return push_task(all, "works");
}

static gh_op* begin_push_id(lent* all)
{
    all->specs[1].id = word(all);
    return push_task(all, "works");
}

static gh_op* begin_push_group(lent* all)
{
    all->specs[1].group = word(all);
    return push_task(all, "works");
}

static void fill_refs(lent* all)
{
    all->refs[0].id = gh_str_literal("1");
    all->refs[1].id = word(all);
}

static gh_op* begin_cancel(lent* all)
{
    const gh_queue queue = queue_of(all, "works");
    fill_refs(all);
    assert_status(gh_tasks_cancel_begin(&all->tasks_edit, &queue, all->refs, 2), GH_OK);
    return &all->tasks_edit.op;
}

static gh_op* begin_requeue(lent* all)
{
    const gh_queue queue = queue_of(all, "works");
    fill_refs(all);
    assert_status(gh_tasks_requeue_begin(&all->tasks_edit, &queue, all->refs, 2), GH_OK);
    return &all->tasks_edit.op;
}

static gh_queue take_tasks(lent* all)
{
    const gh_queue queue = queue_of(all, "taken");
    push_task(all, "taken");
    GAME_UNTIL(gh_op_poll(&all->tasks_push.op) == GH_OK);
    assert_status(gh_tasks_take_begin(&all->tasks_take, &queue, all->tasks, 2, all->memory, sizeof(all->memory)),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&all->tasks_take.op) == GH_OK);
    assert_int_equal(all->tasks_take.count, 2);
    return queue;
}

static gh_op* begin_finish(lent* all)
{
    const gh_queue queue = take_tasks(all);
    all->tasks[1].action = GH_TASK_ACTION_DONE;
    all->tasks[1].result = word(all);
    assert_status(gh_tasks_finish_begin(&all->tasks_finish, &queue, all->tasks, 2), GH_OK);
    return &all->tasks_finish.op;
}

static gh_op* begin_extend(lent* all)
{
    const gh_queue queue = take_tasks(all);
    all->byte = (char*)(uintptr_t)all->tasks[1].id.bytes;
    assert_status(gh_tasks_extend_begin(&all->tasks_extend, &queue, all->tasks, 2), GH_OK);
    return &all->tasks_extend.op;
}

static gh_op* begin_contacts(lent* all)
{
    assert_status(gh_contacts_init(&all->contacts, all->owner->client, gh_str_literal("jason"), NULL, NULL, 0), GH_OK);
    all->strings[0] = gh_str_literal("jeff");
    all->strings[1] = word(all);
    assert_status(gh_contacts_touch_many_begin(&all->contacts_change, &all->contacts, all->strings, 2), GH_OK);
    return &all->contacts_change.op;
}

static gh_guild guild_of(lent* all, gh_str name, gh_str id)
{
    gh_guild guild;
    assert_status(gh_guild_init(&guild, all->owner->client, gh_str_literal("owls"), NULL), GH_OK);
    all->guild_members[0].name = gh_str_literal("jason");
    all->guild_members[1].name = name;
    all->guild_members[1].id = id;
    return guild;
}

static gh_op* begin_guild_name(lent* all)
{
    const gh_guild guild = guild_of(all, word(all), gh_str_literal("7"));
    assert_status(gh_guild_join_begin(&all->guild_change, &guild, all->guild_members, 2), GH_OK);
    return &all->guild_change.op;
}

static gh_op* begin_guild_id(lent* all)
{
    const gh_guild guild = guild_of(all, gh_str_literal("jeff"), word(all));
    assert_status(gh_guild_join_begin(&all->guild_change, &guild, all->guild_members, 2), GH_OK);
    return &all->guild_change.op;
}

static gh_op* begin_guild_has(lent* all)
{
    const gh_guild guild = guild_of(all, word(all), gh_str_literal("7"));
    assert_status(gh_guild_has_begin(&all->guild_has, &guild, all->guild_members, 2), GH_OK);
    return &all->guild_has.op;
}

static gh_op* begin_file(lent* all)
{
    gh_file_send_config config = gh_file_send_config_default();
    char name[32];
    snprintf(name, sizeof(name), "log %u", all->runs);
    all->strings[0] = gh_str_literal("jason");
    all->strings[1] = word(all);
    config.readers = all->strings;
    config.reader_count = 2;
    config.chunk_bytes = 1024;
    config.memory = all->file_memory;
    config.memory_size = gh_file_send_memory(&config);
    assert_true(config.memory_size <= sizeof(all->file_memory));
    assert_status(gh_file_send_begin(&all->file_send, all->owner->client, gh_str_of(name), &config), GH_OK);
    assert_status(gh_file_send_finish(&all->file_send), GH_OK);
    return &all->file_send.op;
}

typedef struct borrower
{
    const char* what;
    const char* kind; /* as the hook is told */
    gh_op* (*begin)(lent* all);
} borrower;

static const borrower borrowers[] = {{"a command's argument", "command", begin_command},
                                     {"a script's key", "command", begin_script_key},
                                     {"a script's argument", "command", begin_script_argument},
                                     {"a script's text", "command", begin_script_text},
                                     {"a body", "mailbox", begin_mailbox_body},
                                     {"a sender", "mailbox", begin_mailbox_sender},
                                     {"a first member", "chat", begin_chat_create_member},
                                     {"a first message", "chat", begin_chat_create_post},
                                     {"a message", "chat", begin_chat_send},
                                     {"a member that has handled", "chat", begin_chat_commit},
                                     {"a member that fetches", "chat", begin_chat_fetch},
                                     {"a payload", "tasks_push", begin_push_payload},
                                     {"a handler", "tasks_push", begin_push_handler},
                                     {"a task's id", "tasks_push", begin_push_id},
                                     {"a group", "tasks_push", begin_push_group},
                                     {"an id that is cancelled", "tasks_cancel", begin_cancel},
                                     {"an id that is requeued", "tasks_requeue", begin_requeue},
                                     {"a result", "tasks_finish", begin_finish},
                                     {"an id that goes on", "tasks_extend", begin_extend},
                                     {"a contact", "contacts", begin_contacts},
                                     {"a guild's member", "guild", begin_guild_name},
                                     {"a member's id", "guild", begin_guild_id},
                                     {"a member that is asked for", "guild", begin_guild_has},
                                     {"a reader of a file", "files", begin_file}};
#define BORROWERS (sizeof(borrowers) / sizeof(borrowers[0]))

/* ---- the tests ----------------------------------------------------------------------------------------------------
 */

static lent* lend(const redis_server* server)
{
    gh_client_config config = game_config(redis_server_address(server));
    game* owner;
    lent* all;
    config.hooks.assertion = note_assertion;
    told = 0;
    owner = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(owner->client));
    all = GAME_NEW(owner, lent);
    all->owner = owner;
    return all;
}

static gh_op* begin_anew(lent* all, const borrower* one)
{
    all->runs++;
    memset(all->specs, 0, sizeof(all->specs));
    snprintf(all->word, sizeof(all->word), "word %u", all->runs);
    all->byte = all->word;
    return one->begin(all);
}

static void each_change_under_a_busy_op_is_told(void** state)
{
    (void)state;
    lent* all = lend(redis_server_start(NULL));
    size_t i;
    for (i = 0; i < BORROWERS; i++)
    {
        const borrower* one = &borrowers[i];
        gh_op* op = begin_anew(all, one);
        if (told != 0) fail_msg("%s: told of nothing: %s", one->what, last_told);
        *all->byte ^= 1;
        GAME_UNTIL(told > 0 || !gh_op_is_busy(op));
        if (told == 0) fail_msg("%s: changed, and not told", one->what);
        gh_op_cancel(op);
        GAME_UNTIL(!gh_op_is_busy(op));
        if (told != 1) fail_msg("%s: told %u times", one->what, told);
        if (strncmp(last_told, one->kind, strlen(one->kind)) != 0 || last_told[strlen(one->kind)] != ':')
            fail_msg("%s: is not of %s: %s", one->what, one->kind, last_told);
        assert_non_null(strstr(last_told, "until the op has ended"));
        told = 0;
    }
}

static void what_stays_and_what_changes_behind_the_end_is_not_told(void** state)
{
    (void)state;
    lent* all = lend(redis_server_start(NULL));
    size_t i;
    for (i = 0; i < BORROWERS; i++)
    {
        gh_op* op = begin_anew(all, &borrowers[i]);
        GAME_UNTIL(!gh_op_is_busy(op));
        *all->byte ^= 1;
        game_tick(all->owner);
        if (told != 0) fail_msg("%s: told of nothing: %s", borrowers[i].what, last_told);
    }
}

/* The copy behind a lost link is looked at as the first one was. */
static void change_between_two_copies_is_told(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    lent* all = lend(server);
    gh_op* op;
    redis_server_freeze(server);
    op = begin_anew(all, &borrowers[4]);
    GAME_UNTIL(game_stats(all->owner).requests_sent > 0);
    *all->byte ^= 1;
    game_tick(all->owner);
    assert_int_equal(told, 0);
    redis_server_restart(server);
    GAME_UNTIL(!gh_op_is_busy(op));
    assert_int_equal(told, 1);
}

/* What a begin copies, and what it writes to, is the caller's to change. */
static void what_is_not_borrowed_may_change(void** state)
{
    (void)state;
    lent* all = lend(redis_server_start(NULL));
    char name[] = "mail";
    gh_mailbox mailbox;
    assert_status(gh_mailbox_init(&mailbox, all->owner->client, gh_str_of(name), NULL), GH_OK);
    fill_posts(all, gh_str_literal("jeff"), gh_str_literal("hello"));
    assert_status(gh_mailbox_push_begin(&all->mailbox_push, &mailbox, all->posts, 2), GH_OK);
    memset(name, '!', sizeof(name));
    memset(&mailbox, '!', sizeof(mailbox));
    all->posts[1].user = all;
    all->posts[1].body.bytes = "hello"; /* elsewhere, and the same */
    GAME_UNTIL(gh_op_poll(&all->mailbox_push.op) == GH_OK);
    snprintf(all->word, sizeof(all->word), "jeff");
    begin_chat_commit(all);
    all->members[1].handled = 2; /* of the next commit */
    GAME_UNTIL(!gh_op_is_busy(&all->chat_commit.op));
    assert_int_equal(told, 0);
}

TEST_FILE(borrowed, cmocka_unit_test(each_change_under_a_busy_op_is_told),
          cmocka_unit_test(what_stays_and_what_changes_behind_the_end_is_not_told),
          cmocka_unit_test(change_between_two_copies_is_told), cmocka_unit_test(what_is_not_borrowed_may_change));
