/* Pitfalls that locks, queues, semaphores and clients of Redis have fallen into, and the tests that show that
   Guildhall has not. The tables name them, wherever they are; a name that is no test fails. */

#include "support/scene/ledger.h"
#include "support/scene/locks.h"
#include "support/scene/permits.h"
#include "support/server/proxy.h"
#include "support/server/scripted.h"
#include "support/faults/table.h"

#include <string.h>

#define MS UINT64_C(1000)

static const table_row pitfalls[] = {
    {"renewal ends after one that failed",
     {"pitfalls.renewal_goes_on_after_each_that_failed", "semaphore_loss.renewal_goes_on_after_one_that_failed",
      "lock_faults.renew_cut_at_every_byte"}},
    {"renewal outlives the release",
     {"pitfalls.renewal_on_its_way_does_not_outlive_the_release", "semaphore_loss.renewal_ends_with_the_release"}},
    {"a lost lock is not told",
     {"lock_loss.is_told_lost_while_the_server_is_away", "lock_loss.is_told_lost_before_anything_else_after_a_hitch",
      "semaphore_loss.is_told_lost_while_the_server_is_away"}},
    {"a loop that stood still works on what another has",
     {"tasks_worker.hitch_longer_than_the_lease_is_told_before_anything_else",
      "budget.leases_are_told_first_after_a_hitch", "tasks.expired_task_goes_to_another_and_the_first_is_refused"}},
    {"delayed tasks stay where they are after a reconnect", {"tasks_fleet.delayed_tasks_come_after_a_reconnect"}},
    {"running without a lease for ever",
     {"tasks_fleet.killed_workers_lose_nothing", "defects_work.task_of_a_dead_worker_goes_to_another"}},
    {"taken from one list and not yet in the other",
     {"defects_work.death_at_any_step_loses_no_due_task",
      "tasks_fleet.restarted_server_and_killed_workers_lose_nothing"}},
    {"permits leak at a crash or a reconnect",
     {"semaphore_loss.crash_leaks_no_permit", "semaphore_faults.permit_take_link_lost_at_every_tick",
      "pitfalls.permits_are_neither_lost_nor_doubled_by_reconnects"}},
    {"a dead link is not noticed while there is much to say",
     {"pitfalls.silence_is_noticed_while_there_is_much_to_say", "budget.silent_server_is_given_up_on_any_budget"}},
    {"looking up a name blocks",
     {"resolver.pending_is_asked_again_in_each_tick", "resolver.pending_for_ever_is_given_up_in_time",
      "resolver.numeric_addresses_are_not_resolved"}},
    {"something is called after the end",
     {"pitfalls.nothing_is_called_after_the_end",
      "tasks_worker.shutdown_tells_handlers_and_the_lease_brings_the_tasks_back"}},
    {"what waits when the link dies never ends",
     {"endings.what_was_sent_before_the_link_died_ends_unknown", "endings.shutdown_ends_each_op_as_it_stands",
      "reconnect.many_requests_on_the_wire_when_it_breaks", "storm.each_op_ends_once_whatever_happens"}},
    {"a new master does not know the scripts",
     {"pitfalls.new_master_learns_the_scripts", "reconnect.forgotten_scripts_are_loaded_again"}},
    {"history grows without bounds for one who is absent",
     {"defects_talk.absent_member_keeps_nothing_for_ever", "mailbox.full_at_capacity_and_never_drops"}},
    {"pushes of the third protocol are read beyond their ends",
     {"pitfalls.words_of_the_third_protocol_end_the_link",
      "reader_hostile.all_short_texts_of_the_protocol_are_survived", "peers.unasked_words_give_up_an_idle_link"}},
    {"numbers as text, totals overwritten, rows that come back, ids that begin anew",
     {"defects_files.ten_readers_are_ten_and_not_two", "defects_files.second_file_of_a_day_adds",
      "defects_data.unscheduled_row_stays_away", "defects_talk.recreated_chat_shows_new_messages"}},
};

/* What anybody would try first of each system, from end to end. */
static const table_row first_tries[] = {
    {"recent contacts: ten touched, one again, one removed, prefixes",
     {"contacts.are_newest_first_and_found_by_prefix"}},
    {"an address book of four: three begin with je, and two after one has left",
     {"guild.members_are_found_by_their_beginnings_while_they_are_in"}},
    {"a lock: refused while it is held, had when its lease is over, given back, had again",
     {"lock_fleet.is_refused_while_held_and_had_again_after_the_lease"}},
    {"a semaphore of three: a fourth is refused, and gets in when they are over",
     {"semaphore.of_three_refuses_a_fourth_until_they_are_over"}},
    {"tasks for now and for later: two now, four in the end", {"tasks_order.delayed_tasks_come_when_due"}},
    {"a chat of three: both readers see the same", {"chat.three_members_see_the_same_messages"}},
    {"files of 1, 10,000 and 100,000 lines, one of them packed", {"files.logs_of_one_to_a_hundred_thousand_lines"}},
    {"counters at several precisions, cleaned to nothing",
     {"counters.adds_show_at_every_precision", "counters_clean.counter_that_nobody_touches_vanishes"}},
    {"the place of an address", {"geo.finds_places_and_nothing_in_gaps"}},
    {"mail that waits, is read, and goes when it was handled", {"mailbox.pushed_fetched_and_committed"}},
    {"a line of a log, by country, region and city", {"aggregate.plain_line_counts_in_its_country_region_and_city"}},
    {"a row that is refreshed, and is not any more", {"rows.is_refreshed_until_it_is_unscheduled"}},
};

static void tables_name_tests_that_exist(void** state)
{
    (void)state;
    table_check(pitfalls, sizeof(pitfalls) / sizeof(pitfalls[0]));
    table_check(first_tries, sizeof(first_tries) / sizeof(first_tries[0]));
    assert_false(table_is_test("pitfalls.no_such_test"));
}

/* ---- leases -------------------------------------------------------------------------------------------- */

static void renewal_goes_on_after_each_that_failed(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start_ready(proxy_address(proxy));
    gh_lock* lock = lock_begun(a, "sword", 3 * SECOND_US, 10 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    for (unsigned i = 0; i < 6; i++) /* before the store has it, and after */
    {
        uint64_t end_us = gh_lock_end_us(lock);
        proxy_arm(proxy, i % 2 == 0 ? PROXY_REQUEST : PROXY_REPLY, 5, PROXY_RST);
        a->ahead_us += (int64_t)SECOND_US;
        GAME_UNTIL(gh_lock_end_us(lock) != end_us);
        assert_status(gh_op_poll(&lock->op), GH_HELD);
        assert_true(gh_lock_end_us(lock) > end_us);
    }
    assert_int_equal(proxy_fired(proxy), 6);
}

/* The renewal arrives at the store after the release: it must not make the lock ours again. */
static void renewal_on_its_way_does_not_outlive_the_release(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    gh_client_config config = game_config(proxy_address(proxy));
    config.wake = false;
    config.request_timeout_us = 2 * SECOND_US; /* on a slow machine too: a lease has to outlive it several times */
    game* a = game_start_with(&config);
    game* b = game_start_ready(redis_server_address(server));
    for (int i = 0; i < 5; i++)
    {
        gh_lock* lock = lock_begun(a, "sword", 30 * SECOND_US, 10 * SECOND_US);
        GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
        uint64_t fired = proxy_fired(proxy);
        proxy_arm(proxy, PROXY_REQUEST, 0, PROXY_HOLD);
        a->ahead_us += (int64_t)(11 * SECOND_US);
        GAME_UNTIL(proxy_fired(proxy) > fired); /* the renewal leaves, and is held back ... */
        assert_status(gh_op_poll(&lock->op), GH_HELD);
        gh_lock_release(lock);
        proxy_cut_now(proxy, PROXY_RST); /* ... on a link that dies; the release goes over the next one */
        GAME_UNTIL(gh_op_poll(&lock->op) == GH_OK);
        proxy_release(proxy);
        gh_lock* next = lock_begun(b, "sword", 30 * SECOND_US, 5 * SECOND_US); /* far less than a lease */
        GAME_UNTIL(gh_op_poll(&next->op) != GH_PENDING);
        assert_status(gh_op_poll(&next->op), GH_HELD);
        uint64_t end_us = wait_now_us() + 20 * MS;
        GAME_UNTIL(wait_now_us() >= end_us);
        gh_lock_release(next);
        GAME_UNTIL(gh_op_poll(&next->op) != GH_PENDING);
        assert_status(gh_op_poll(&next->op), GH_OK); /* it was still the owner's */
    }
    assert_true(proxy_fired(proxy) >= 5);
}

static void permits_are_neither_lost_nor_doubled_by_reconnects(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start_ready(proxy_address(proxy));
    gh_permit* permits[20];
    for (unsigned i = 0; i < 20; i++)
    {
        proxy_arm(proxy, i % 2 == 0 ? PROXY_REPLY : PROXY_REQUEST, 1 + i, PROXY_RST);
        permits[i] = permit_hold_one(a, "arena", 20, 60 * SECOND_US);
        assert_int_equal(semaphore_stored(server, "arena").used, i + 1);
    }
    assert_true(proxy_fired(proxy) >= 10);
    for (unsigned i = 0; i < 20; i++) assert_status(permit_give_back(permits[i]), GH_OK);
    assert_int_equal(semaphore_stored(server, "arena").used, 0);
    semaphore_must_be_sound(server, "arena");
}

/* ---- the link ------------------------------------------------------------------------------------------ */

static gh_command* ask(game* from, const char* word)
{
    gh_command* op = GAME_NEW(from, gh_command);
    gh_str* words = GAME_NEW(from, gh_str);
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_SAFE;
    config.timeout_us = 60 * SECOND_US;
    words[0] = gh_str_of(word);
    config.reply_size = 64;
    config.reply_memory = game_new(from, config.reply_size);
    assert_status(gh_command_begin(op, from->client, words, 1, &config), GH_OK);
    return op;
}

/* Somebody who counts the time since something was last sent never notices. */
static void silence_is_noticed_while_there_is_much_to_say(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    gh_client_config config = game_config(proxy_address(proxy));
    config.wake = false;
    config.request_timeout_us = SECOND_US / 4;
    game* a = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(a->client));
    proxy_arm(proxy, PROXY_REPLY, 0, PROXY_HOLD); /* what is said still gets there */
    uint64_t lost = game_stats(a).links_lost;
    uint64_t begun_us = game_now_us(a); /* less what the machine gave to others */
    uint64_t next_us = wait_now_us();
    gh_command* first = ask(a, "PING");
    GAME_UNTIL((wait_now_us() >= next_us ? (next_us += 10 * MS, (void)ask(a, "PING")) : (void)0,
                game_stats(a).links_lost > lost));
    assert_in_range(game_now_us(a) - begun_us, config.request_timeout_us * 9 / 10,
                    config.request_timeout_us * 4 * suite_patience());
    GAME_UNTIL(gh_op_poll(&first->op) != GH_PENDING);
    assert_status(gh_op_poll(&first->op), GH_OK); /* over the next link */
}

static unsigned called;

static void count_trace(void* context, const gh_trace_event* event)
{
    (void)context, (void)event;
    called++;
}

static void count_log(void* context, gh_log_level level, gh_str text)
{
    (void)context, (void)level, (void)text;
    called++;
}

static void nothing_is_called_after_the_end(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* other = game_start_ready(redis_server_address(server));
    gh_client_config config = game_config(redis_server_address(server));
    config.hooks.trace = count_trace;
    config.hooks.log = count_log;
    called = 0;
    game* a = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(a->client));
    lock_begun(a, "sword", 10 * SECOND_US, 10 * SECOND_US);
    ask(a, "PING");
    game_tick(a); /* both are sent, the answers are under way */
    game_end(a);  /* its memory is gone, and that of the ops: the sanitizers watch it */
    assert_true(called > 0);
    unsigned before = called;
    gh_lock* lock = lock_begun(other, "sword", 10 * SECOND_US, 30 * SECOND_US); /* hints go to the dead one, too */
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    assert_int_equal(called, before);
}

/* ---- the server ---------------------------------------------------------------------------------------- */

static void new_master_learns_the_scripts(void** state)
{
    (void)state;
    redis_server_options options = {.tcp = true};
    redis_server* master = redis_server_start(&options);
    redis_server* replica = redis_server_start(&options);
    const char* port = strrchr(redis_server_tcp_address(master), ':') + 1;
    redis_server_do(replica, "REPLICAOF 127.0.0.1 %s", port);
    WAIT_FOR(strstr(redis_server_text(replica, "INFO replication"), "master_link_status:up") != NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(master), PROXY_UNIX);
    game* a = game_start_ready(proxy_address(proxy));
    gh_lock* lock = lock_begun(a, "sword", 60 * SECOND_US, 10 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    WAIT_FOR(redis_server_integer(replica, "EXISTS gh:{lock:sword}:s") == 1);
    redis_server_kill9(master);
    redis_server_do(replica, "REPLICAOF NO ONE");
    redis_server_do(replica, "SCRIPT FLUSH");
    proxy_set_server(proxy, redis_server_address(replica));
    GAME_UNTIL(gh_client_ready(a->client) && game_stats(a).links_lost > 0);
    redis_server_do(replica, "SCRIPT FLUSH"); /* and once more, behind the hand-shake's back */
    gh_lock* shield = lock_begun(a, "shield", 60 * SECOND_US, 10 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&shield->op) == GH_HELD);
    assert_status(gh_op_poll(&lock->op), GH_HELD); /* it was replicated: still ours */
    gh_lock_release(lock);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_OK);
    assert_int_equal(game_stats(a).store_resets, 0);
}

/* The client speaks the second protocol: whatever is of the third is nonsense, of any announced size. */
static void words_of_the_third_protocol_end_the_link(void** state)
{
    (void)state;
    static const char* const words[] = {
        ">2\r\n$7\r\nmessage\r\n$1\r\na\r\n",
        ">1000000000\r\n",
        ">-1\r\n",
        ">0\r\n",
        ">\r\n",
        "%1\r\n+a\r\n+b\r\n",
        "~1\r\n+a\r\n",
        "_\r\n",
        "#t\r\n",
        ",1.5\r\n",
        "(12\r\n",
        "=7\r\ntxt:abc\r\n",
        "|1\r\n+a\r\n+b\r\n:1\r\n",
        "$?\r\n;0\r\n",
        "*?\r\n.\r\n",
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
    {
        scripted* world = scripted_new();
        scripted_start_ready(world, NULL);
        gh_command* op = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_NEVER);
        world->silent = true;
        scripted_tick(world, MS);
        scripted_say(world, words[i]);
        SCRIPTED_UNTIL(world, !gh_client_ready(world->client), MS, 10 * MS);
        assert_status(gh_op_poll(&op->op), GH_UNKNOWN); /* it is nobody's answer */
        assert_int_equal(scripted_stats(world).links_lost, 1);
        world->silent = false;
        SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, SECOND_US);
    }
}

TEST_FILE(pitfalls, cmocka_unit_test(tables_name_tests_that_exist),
          cmocka_unit_test(renewal_goes_on_after_each_that_failed),
          cmocka_unit_test(renewal_on_its_way_does_not_outlive_the_release),
          cmocka_unit_test(permits_are_neither_lost_nor_doubled_by_reconnects),
          cmocka_unit_test(silence_is_noticed_while_there_is_much_to_say),
          cmocka_unit_test(nothing_is_called_after_the_end), cmocka_unit_test(new_master_learns_the_scripts),
          cmocka_unit_test(words_of_the_third_protocol_end_the_link));
