/* everything.c -- ops and objects in one struct, begun, used and touched in the order of the headers. */

#include "support/scene/everything.h"

#include "support/scene/everything_asked.h"
#include "support/scene/everything_part.h"
#include "support/scene/everything_reads.h"
#include "support/scene/everything_social.h"
#include "support/scene/everything_talk.h"
#include "support/scene/places.h"

#include <string.h>

#define CALLS_MAX 400
#define WAIT_US   UINT64_C(600000000) /* longer than any test              */
#define ROOM_SIZE ((size_t)1 << 17)   /* enough for each of them, aligned  */

struct everything
{
    game* owner;
    gh_client* client;
    bool live;

    gh_geo* table;
    gh_aggregate* aggregate;
    gh_aggregate_flush flush;
    gh_aggregate_read totals;
    gh_aggregate_total total[4];

    gh_chat_change change;
    gh_chat_change join;
    gh_chat_change leave;
    gh_chat_send send;
    gh_post post;
    gh_chat_fetch fetch;
    gh_chat_member member;
    gh_chat_commit commit;
    gh_chat_member committed;
    everything_talk talk;
    gh_chat_feed feed;
    gh_chat_room rooms[2];
    gh_chat_seat seats[4];
    gh_chat_player players[2];
    gh_chat_room* room;

    everything_asked asked;
    gh_command command;
    gh_command scripted;
    gh_script script;

    everything_social social;

    gh_counters* counters;
    gh_counter counter;
    everything_reads reads;

    gh_file_send file;
    gh_file_read reader;
    gh_files_list files;
    gh_file_entry entries[4];
    gh_file_look look;
    gh_file_remove remove;

    gh_lock lock;
    gh_lock waiting;
    gh_lock_set set;
    gh_lock locks[2];

    gh_mailbox_push push;
    gh_post letter;
    gh_mailbox_fetch letters;
    gh_mailbox_commit handled;

    gh_row_schedule schedule;
    gh_row_schedule unschedule;
    gh_row_get row;
    gh_rows refresher;
    gh_rows_slot slots[2];
    gh_row_load loading;

    gh_permit permit;
    gh_permit queued;
    gh_semaphore_limit limit;
    gh_semaphore_look holders;
    gh_permit_holder holder[4];

    gh_tasks_push push_taken;
    gh_tasks_push push_worked;
    gh_task_spec specs[3];
    gh_tasks_take take;
    gh_task taken[2];
    gh_tasks_finish finish;
    gh_tasks_extend extend;
    gh_tasks_worker worker;
    gh_task_handler handler;
    gh_tasks_worker_queue queue;
    gh_queue crafts;
    gh_task hands[2];
    gh_tasks_edit cancel;
    gh_tasks_edit requeue;
    gh_task_ref ref;
    gh_tasks_control control;
    gh_tasks_look task_look;
    gh_tasks_dead dead;
    gh_dead_task letters_dead[2];
    gh_tasks_count count;
};

static const char* calls[CALLS_MAX];
static size_t call_count;

bool everything_has_called(const char* function)
{
    for (size_t i = 0; i < call_count; i++)
        if (strcmp(calls[i], function) == 0) return true;
    return false;
}

void everything_note(const char* function)
{
    if (everything_has_called(function)) return;
    assert_true(call_count < CALLS_MAX);
    calls[call_count++] = function;
}

#define NAME(text) gh_str_literal(text)

/* ---- begin --------------------------------------------------------------------------------------------------- */

/* Memory of its own. */
static void* room(const everything* all)
{
    return game_new(all->owner, ROOM_SIZE);
}

#define BEGIN(function, ...) BEGIN_AS(all->live, function, __VA_ARGS__)

everything* everything_new(game* owner)
{
    everything* all = GAME_NEW(owner, everything);
    all->owner = owner;
    all->table = places_world(owner);
    all->aggregate = places_aggregate(owner, all->table, 2);
    all->member.name = all->committed.name = NAME("jeff");
    all->committed.handled = 1;
    all->post.sender = all->letter.sender = NAME("jeff");
    all->post.body = all->letter.body = NAME("hello");
    all->script.text = NAME("return 7");
    all->ref.id = NAME("no such task");
    return all;
}

static void begin_aggregate(everything* all, gh_client* client)
{
    gh_aggregate_read_config want = gh_aggregate_read_config_default();
    want.totals = all->total;
    want.total_count = 4;
    want.text = room(all);
    want.text_size = ROOM_SIZE;
    assert_status(CALL(gh_aggregate_start)(all->aggregate, all->table), GH_OK);
    assert_status(CALL(gh_aggregate_add)(all->aggregate, NAME("81.0.0.1 2011-10-10 13:55:36 login\n")), GH_OK);
    assert_status(CALL(gh_aggregate_add_line)(all->aggregate, NAME("81.0.1.1 2011-10-10 13:55:36 login")), GH_OK);
    BEGIN(gh_aggregate_flush_begin, &all->flush, client, all->aggregate, PASSING("logins"), PASSING("log 1"), NULL);
    BEGIN(gh_aggregate_read_begin, &all->totals, client, PASSING("logins"), PLACES_DAY, &want);
}

static void begin_feed(everything* all, gh_client* client)
{
    gh_chat_feed_config config = gh_chat_feed_config_default();
    config.rooms = all->rooms;
    config.room_count = 2;
    config.seats = all->seats;
    config.seat_count = 4;
    config.buffer = room(all);
    config.buffer_size = ROOM_SIZE;
    BEGIN(gh_chat_feed_begin, &all->feed, client, &config);
    if (all->live) assert_status(CALL(gh_chat_feed_add)(&all->feed, &all->players[0], PASSING("jeff")), GH_OK);
}

static void begin_chat(everything* all, gh_client* client)
{
    static const gh_str members[] = {GH_STR_INIT("jeff")};
    gh_chat_fetch_config config = gh_chat_fetch_config_default();
    config.buffer = room(all);
    config.buffer_size = ROOM_SIZE;
    config.wait_us = WAIT_US;
    gh_chat hall;
    gh_chat cellar;
    BEGIN(gh_chat_init, &hall, client, PASSING("hall"), NULL);
    BEGIN(gh_chat_init, &cellar, client, PASSING("cellar"), NULL);
    BEGIN(gh_chat_create_begin, &all->change, &hall, members, 1, &all->post);
    BEGIN(gh_chat_join_begin, &all->join, &hall, PASSING("jenny"), GH_CHAT_FROM_NOW);
    BEGIN(gh_chat_leave_begin, &all->leave, &cellar, PASSING("jenny"));
    BEGIN(gh_chat_send_begin, &all->send, &hall, &all->post, 1);
    BEGIN(gh_chat_fetch_begin, &all->fetch, &hall, &all->member, 1, &config);
    BEGIN(gh_chat_commit_begin, &all->commit, &hall, 1, &all->committed, 1);
    everything_talk_begin(&all->talk, client, &hall, all->live);
    memset(&hall, EVERYTHING_GONE, sizeof(hall));
    memset(&cellar, EVERYTHING_GONE, sizeof(cellar));
    begin_feed(all, client);
}

static void begin_commands(everything* all, gh_client* client)
{
    static const gh_str words[] = {GH_STR_INIT("PING")};
    gh_command_config config = gh_command_config_default();
    config.reply_memory = room(all);
    config.reply_size = ROOM_SIZE;
    BEGIN(gh_command_begin, &all->command, client, words, 1, &config);
    everything_asked_begin(&all->asked, client, all->live);
    BEGIN(gh_script_begin, &all->scripted, client, &all->script, NULL, 0, NULL, 0, NULL);
}

static void begin_counters(everything* all, gh_client* client)
{
    gh_counters_config config = gh_counters_config_default();
    config.counters_max = 16;
    if (all->live)
    {
        BEGIN(gh_counters_init, &all->counters, client, &config, room(all), ROOM_SIZE);
        assert_status(CALL(gh_counters_open)(all->counters, NAME("hits"), &all->counter), GH_OK);
        assert_status(CALL(gh_counters_add)(all->counters, all->counter, 1), GH_OK);
    }
    else
    {
        gh_counters* none = NULL;
        BEGIN(gh_counters_init, &none, client, &config, room(all), ROOM_SIZE);
    }
    everything_reads_begin(&all->reads, client, all->live);
}

static void begin_files(everything* all, gh_client* client)
{
    static const gh_str readers[] = {GH_STR_INIT("one")};
    gh_file_send_config sends = gh_file_send_config_default();
    gh_file_read_config reads = gh_file_read_config_default();
    gh_files_list_config lists = gh_files_list_config_default();
    sends.readers = readers;
    sends.reader_count = 1;
    sends.chunk_bytes = reads.chunk_bytes = 4096;
    sends.lanes = reads.lanes = 2;
    sends.memory = room(all);
    sends.memory_size = ROOM_SIZE;
    reads.memory = room(all);
    reads.memory_size = ROOM_SIZE;
    lists.entries = all->entries;
    lists.entry_count = 4;
    lists.names = room(all);
    lists.names_size = ROOM_SIZE;
    lists.wait_us = WAIT_US;
    BEGIN(gh_file_send_begin, &all->file, client, PASSING("log 1"), &sends);
    BEGIN(gh_file_read_begin, &all->reader, client, PASSING("log 1"), PASSING("one"), &reads);
    BEGIN(gh_files_list_begin, &all->files, client, PASSING("logs"), &lists);
    BEGIN(gh_file_look_begin, &all->look, client, PASSING("log 1"), NULL);
    BEGIN(gh_file_remove_begin, &all->remove, client, PASSING("log 0"), 1, PASSING("logs"), NULL);
}

static void begin_locks(everything* all, gh_client* client)
{
    static const gh_str names[] = {GH_STR_INIT("a"), GH_STR_INIT("b")};
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = WAIT_US;
    config.lease_us = WAIT_US;
    BEGIN(gh_lock_begin, &all->lock, client, PASSING("sword"), &config);
    BEGIN(gh_lock_begin, &all->waiting, client, PASSING("sword"), &config);
    BEGIN(gh_lock_set_begin, &all->set, client, all->locks, names, 2, &config);
}

static void begin_mailbox(everything* all, gh_client* client)
{
    gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
    config.buffer = room(all);
    config.buffer_size = ROOM_SIZE;
    gh_mailbox mailbox;
    BEGIN(gh_mailbox_init, &mailbox, client, PASSING("jeff"), NULL);
    BEGIN(gh_mailbox_push_begin, &all->push, &mailbox, &all->letter, 1);
    BEGIN(gh_mailbox_fetch_begin, &all->letters, &mailbox, &config);
    BEGIN(gh_mailbox_commit_begin, &all->handled, &mailbox, 1, 1);
    memset(&mailbox, EVERYTHING_GONE, sizeof(mailbox));
}

static void load_row(void* context, gh_row_load load, gh_str row)
{
    everything* all = context;
    (void)row;
    all->loading = load;
}

static void begin_rows(everything* all, gh_client* client)
{
    gh_rows_config config = gh_rows_config_default();
    gh_row_get_config want = gh_row_get_config_default();
    config.loader = load_row;
    config.context = all;
    config.slots = all->slots;
    config.slot_count = 2;
    config.memory = room(all);
    config.memory_size = ROOM_SIZE;
    BEGIN(gh_row_schedule_begin, &all->schedule, client, PASSING("score"), NULL);
    BEGIN(gh_row_unschedule_begin, &all->unschedule, client, PASSING("old score"), NULL);
    BEGIN(gh_row_get_begin, &all->row, client, PASSING("score"), &want);
    BEGIN(gh_rows_begin, &all->refresher, client, &config);
}

static void begin_permits(everything* all, gh_client* client)
{
    gh_permit_config config = gh_permit_config_default();
    gh_semaphore_config limits = gh_semaphore_config_default();
    gh_semaphore seat;
    gh_semaphore other;
    limits.limit = 1;
    config.wait_us = WAIT_US;
    config.lease_us = WAIT_US;
    BEGIN(gh_semaphore_init, &seat, client, PASSING("seat"), &limits);
    BEGIN(gh_semaphore_init, &other, client, PASSING("other seat"), NULL);
    BEGIN(gh_permit_begin, &all->permit, &seat, &config);
    BEGIN(gh_permit_begin, &all->queued, &seat, &config);
    BEGIN(gh_semaphore_limit_begin, &all->limit, &other, 2);
    BEGIN(gh_semaphore_look_begin, &all->holders, &seat, all->holder, 4);
    memset(&seat, EVERYTHING_GONE, sizeof(seat));
    memset(&other, EVERYTHING_GONE, sizeof(other));
}

static gh_task_action go_on(void* context, gh_task* task)
{
    (void)context, (void)task;
    return GH_TASK_ACTION_CONTINUE;
}

/* A queue that is there only until the next one is asked for. */
static const gh_queue* passing_queue(gh_client* client, const char* name, const gh_queue_config* config)
{
    static gh_queue queue;
    memset(&queue, EVERYTHING_GONE, sizeof(queue));
    CALL(gh_queue_init)(&queue, client, PASSING(name), config);
    return &queue;
}

static void begin_worker(everything* all, gh_client* client)
{
    gh_tasks_worker_config config = gh_tasks_worker_config_default();
    all->handler.function = go_on;
    CALL(gh_queue_init)(&all->crafts, client, PASSING("crafts"), NULL);
    all->queue.queue = &all->crafts;
    config.handlers = &all->handler;
    config.handler_count = 1;
    config.queues = &all->queue;
    config.queue_count = 1;
    config.slots = all->hands;
    config.slot_count = 2;
    config.memory = room(all);
    config.memory_size = ROOM_SIZE;
    BEGIN(gh_tasks_worker_begin, &all->worker, client, &config);
}

static void begin_tasks(everything* all, gh_client* client)
{
    static gh_tasks_rules rules;
    gh_queue_config config = gh_queue_config_default();
    config.wait_us = WAIT_US;
    config.lease_us = WAIT_US;
    BEGIN(gh_tasks_push_begin, &all->push_taken, passing_queue(client, "works", NULL), all->specs, 2);
    BEGIN(gh_tasks_push_begin, &all->push_worked, passing_queue(client, "crafts", NULL), all->specs + 2, 1);
    BEGIN(gh_tasks_take_begin, &all->take, passing_queue(client, "works", &config), all->taken, 2, room(all),
          ROOM_SIZE);
    begin_worker(all, client);
    BEGIN(gh_tasks_cancel_begin, &all->cancel, passing_queue(client, "works", NULL), &all->ref, 1);
    BEGIN(gh_tasks_requeue_begin, &all->requeue, passing_queue(client, "works", NULL), &all->ref, 1);
    BEGIN(gh_tasks_control_begin, &all->control, passing_queue(client, "other works", NULL), &rules);
    BEGIN(gh_tasks_look_begin, &all->task_look, passing_queue(client, "works", NULL), PASSING("no such task"),
          room(all), ROOM_SIZE);
    BEGIN(gh_tasks_dead_begin, &all->dead, passing_queue(client, "works", NULL), 0, all->letters_dead, 2, room(all),
          ROOM_SIZE);
    BEGIN(gh_tasks_count_begin, &all->count, passing_queue(client, "works", NULL));
}

/* What needs something in hand: it begins as soon as that is there. */
static void begin_later(everything* all, gh_client* client)
{
    if (all->live && gh_op_poll(&all->take.op) != GH_OK) return;
    if (all->live && gh_op_poll(&all->extend.op) != GH_IDLE) return;
    if (all->live && gh_op_poll(&all->social.search.op) != GH_OK) return;
    all->taken[1].action = GH_TASK_ACTION_DONE;
    BEGIN(gh_tasks_extend_begin, &all->extend, passing_queue(client, "works", NULL), &all->taken[0], 1);
    BEGIN(gh_tasks_finish_begin, &all->finish, passing_queue(client, "works", NULL), &all->taken[1], 1);
    everything_social_next(&all->social, client, all->live);
}

void everything_begin(everything* all, gh_client* client, bool live)
{
    all->live = live;
    all->client = client;
    begin_aggregate(all, client);
    begin_chat(all, client);
    begin_commands(all, client);
    everything_social_begin(&all->social, client, live, room(all), room(all), ROOM_SIZE);
    begin_counters(all, client);
    begin_files(all, client);
    begin_locks(all, client);
    begin_mailbox(all, client);
    begin_rows(all, client);
    begin_permits(all, client);
    begin_tasks(all, client);
    if (!live) begin_later(all, client);
}

/* ---- use ------------------------------------------------------------------------------------------------------- */

bool everything_use(everything* all)
{
    size_t taken = 0;
    gh_str line;
    bool counted = everything_social_use(&all->social, all->client);
    begin_later(all, all->client);
    if (all->room == NULL) all->room = CALL(gh_chat_feed_next)(&all->feed);
    if (all->file.taken_bytes == 0) CALL(gh_file_send_push)(&all->file, NAME("one\ntwo\n"), &taken);
    if (all->reader.lines == 0) CALL(gh_file_read_line)(&all->reader, &line);
    return all->room != NULL && all->loading.slot != NULL && all->worker.running > 0 && all->file.taken_bytes > 0 &&
           gh_op_poll(&all->lock.op) == GH_HELD && gh_op_poll(&all->set.op) == GH_HELD &&
           gh_op_poll(&all->permit.op) == GH_HELD && counted && gh_op_poll(&all->extend.op) != GH_IDLE &&
           all->feed.rooms_used > 0;
}

/* ---- touch ------------------------------------------------------------------------------------------------------- */

static void must_be_over(const char* what, gh_status status)
{
    if (status == GH_PENDING) fail_msg("%s is PENDING", what);
}

static void must_not_be_busy(const gh_op* op)
{
    assert_false(CALL(gh_op_is_busy)(op));
}

#define OVER(function, ...) must_be_over(#function, CALL(function)(__VA_ARGS__))
/* Polled, ended by each function that ends it, polled again. */
#define CANCEL(op)                                                                                                     \
    (must_not_be_busy(op), OVER(gh_op_poll, op), CALL(gh_op_cancel)(op), CALL(gh_op_detach)(op), OVER(gh_op_poll, op))
/* The same of an op that has an end of its own. */
#define STOP(end, busy) (OVER(gh_op_poll, &(busy)->op), CALL(end)(busy), OVER(gh_op_poll, &(busy)->op))

static void touch_aggregate(everything* all)
{
    gh_aggregate_stats stats;
    CANCEL(&all->flush.op);
    CANCEL(&all->totals.op);
    CALL(gh_aggregate_count)(all->aggregate, PLACES_DAY, 0);
    assert_status(CALL(gh_aggregate_get_stats)(all->aggregate, &stats), GH_OK);
    assert_status(CALL(gh_aggregate_start)(all->aggregate, all->table), GH_OK);
}

static void touch_chat(everything* all)
{
    gh_chat_line line;
    CANCEL(&all->change.op);
    CANCEL(&all->join.op);
    CANCEL(&all->leave.op);
    CANCEL(&all->send.op);
    CANCEL(&all->fetch.op);
    CANCEL(&all->commit.op);
    everything_talk_touch(&all->talk);
    OVER(gh_chat_feed_add, &all->feed, &all->players[1], NAME("jenny"));
    CALL(gh_chat_feed_refresh)(&all->feed, &all->players[0]);
    CALL(gh_chat_room_seat)(all->room, NULL);
    CALL(gh_chat_feed_done)(&all->feed, all->room, true);
    while (CALL(gh_chat_feed_line)(&all->feed, &line)) assert_ptr_equal(line.player, &all->players[0]);
    CALL(gh_chat_feed_remove)(&all->feed, &all->players[0]);
    CALL(gh_chat_feed_end)(&all->feed);
    assert_null(gh_chat_feed_next(&all->feed));
}

static void touch_commands(everything* all)
{
    CALL(gh_command_reply)(&all->command);
    CANCEL(&all->command.op);
    CANCEL(&all->scripted.op);
    everything_asked_touch(&all->asked);
}

static void touch_counters(everything* all)
{
    gh_counter other;
    gh_counters_stats stats;
    gh_status gone = all->counters == NULL ? GH_INVALID_COUNTERS : GH_CLOSED;
    assert_status(CALL(gh_counters_open)(all->counters, NAME("misses"), &other), gone);
    assert_status(CALL(gh_counters_add)(all->counters, all->counter, 1), gone);
    assert_status(CALL(gh_counters_add_at)(all->counters, all->counter, 1, 1), gone);
    CALL(gh_counters_flush)(all->counters);
    CALL(gh_counters_get_stats)(all->counters, &stats);
    CALL(gh_counters_close)(all->counters, all->counter);
    OVER(gh_counters_poll, all->counters);
    CALL(gh_counters_end)(all->counters);
    OVER(gh_counters_poll, all->counters);
    everything_reads_touch(&all->reads);
}

static void touch_files(everything* all)
{
    size_t taken;
    gh_str bytes;
    OVER(gh_file_send_push, &all->file, NAME("three\n"), &taken);
    OVER(gh_file_send_finish, &all->file);
    CANCEL(&all->file.op);
    OVER(gh_file_read_block, &all->reader, &bytes);
    OVER(gh_file_read_line, &all->reader, &bytes);
    OVER(gh_file_read_recall, &all->reader, NAME("three\n"));
    OVER(gh_file_read_done, &all->reader);
    CANCEL(&all->reader.op);
    CANCEL(&all->files.op);
    CANCEL(&all->look.op);
    CANCEL(&all->remove.op);
}

static void touch_mailbox(everything* all)
{
    CANCEL(&all->push.op);
    CANCEL(&all->letters.op);
    CANCEL(&all->handled.op);
}

static void touch_lock(gh_lock* lock)
{
    assert_int_not_equal(gh_op_poll(&lock->op), GH_HELD);
    assert_int_equal(CALL(gh_lock_remaining_us)(lock), 0);
    assert_int_equal(CALL(gh_lock_end_us)(lock), 0);
    assert_int_equal(CALL(gh_lock_fence)(lock).fence, 0);
    STOP(gh_lock_release, lock);
    CANCEL(&lock->op);
}

static void touch_locks_and_permits(everything* all)
{
    touch_lock(&all->lock);
    touch_lock(&all->waiting);
    touch_lock(&all->locks[0]);
    touch_lock(&all->locks[1]);
    assert_int_not_equal(gh_op_poll(&all->set.op), GH_HELD);
    STOP(gh_lock_set_release, &all->set);
    CANCEL(&all->set.op);
    assert_int_not_equal(gh_op_poll(&all->permit.op), GH_HELD);
    assert_int_equal(CALL(gh_permit_remaining_us)(&all->permit), 0);
    STOP(gh_permit_release, &all->permit);
    CANCEL(&all->permit.op);
    CANCEL(&all->queued.op);
    CANCEL(&all->limit.op);
    CANCEL(&all->holders.op);
}

static void touch_rows(everything* all)
{
    CANCEL(&all->schedule.op);
    CANCEL(&all->unschedule.op);
    CANCEL(&all->row.op);
    STOP(gh_rows_end, &all->refresher);
    CANCEL(&all->refresher.op);
    assert_false(CALL(gh_row_load_is_wanted)(all->loading));
    assert_status(CALL(gh_row_complete)(all->loading, GH_OK, NAME("7")),
                  all->loading.slot == NULL ? GH_INVALID_ROW_LOAD : GH_LOST);
}

static void touch_tasks(everything* all)
{
    char id[GH_TASK_ID_TEXT_SIZE];
    CALL(gh_tasks_push_id)(&all->push_taken, 0, id);
    CALL(gh_task_set_result)(&all->taken[0], NAME("well"));
    CANCEL(&all->push_taken.op);
    CANCEL(&all->push_worked.op);
    CANCEL(&all->take.op);
    CANCEL(&all->finish.op);
    CANCEL(&all->extend.op);
    STOP(gh_tasks_worker_end, &all->worker);
    CANCEL(&all->worker.op);
    CANCEL(&all->cancel.op);
    CANCEL(&all->requeue.op);
    CANCEL(&all->control.op);
    CANCEL(&all->task_look.op);
    CANCEL(&all->dead.op);
    CANCEL(&all->count.op);
}

void everything_touch(everything* all)
{
    touch_aggregate(all);
    touch_chat(all);
    touch_commands(all);
    touch_counters(all);
    touch_files(all);
    everything_social_touch(&all->social);
    touch_mailbox(all);
    touch_locks_and_permits(all);
    touch_rows(all);
    touch_tasks(all);
}

/* ---- detach ------------------------------------------------------------------------------------------------------ */

/* Its memory is the caller's again, so it is written over. */
#define DETACH(subject) (gh_op_detach(&(subject).op), memset(&(subject), EVERYTHING_GONE, sizeof(subject)))

void everything_detach(everything* all)
{
    DETACH(all->flush);
    DETACH(all->totals);
    DETACH(all->change);
    DETACH(all->join);
    DETACH(all->leave);
    DETACH(all->send);
    DETACH(all->fetch);
    DETACH(all->commit);
    everything_talk_detach(&all->talk);
    DETACH(all->command);
    DETACH(all->scripted);
    everything_asked_detach(&all->asked);
    everything_social_detach(&all->social);
    everything_reads_detach(&all->reads);
    DETACH(all->file);
    DETACH(all->reader);
    DETACH(all->files);
    DETACH(all->look);
    DETACH(all->remove);
    DETACH(all->push);
    DETACH(all->letters);
    DETACH(all->handled);
    DETACH(all->lock);
    DETACH(all->waiting);
    DETACH(all->set);
    DETACH(all->permit);
    DETACH(all->queued);
    DETACH(all->limit);
    DETACH(all->holders);
    DETACH(all->schedule);
    DETACH(all->unschedule);
    DETACH(all->row);
    DETACH(all->refresher);
    DETACH(all->push_taken);
    DETACH(all->push_worked);
    DETACH(all->take);
    DETACH(all->finish);
    DETACH(all->extend);
    DETACH(all->worker);
    DETACH(all->cancel);
    DETACH(all->requeue);
    DETACH(all->control);
    DETACH(all->task_look);
    DETACH(all->dead);
    DETACH(all->count);
    DETACH(all->feed);
    memset(all->locks, EVERYTHING_GONE, sizeof(all->locks));
    memset(all->slots, EVERYTHING_GONE, sizeof(all->slots));
    memset(all->hands, EVERYTHING_GONE, sizeof(all->hands));
    memset(all->rooms, EVERYTHING_GONE, sizeof(all->rooms));
    memset(all->seats, EVERYTHING_GONE, sizeof(all->seats));
    memset(all->players, EVERYTHING_GONE, sizeof(all->players));
    if (all->counters != NULL) (void)gh_counters_end(all->counters);
}
