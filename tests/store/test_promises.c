/* What Guildhall promises, where it was once broken, and the tests that show that it is kept. The numbers are those of
   the faults; each of them can be planted anew, see tests/plant.sh. */

#include "support/faults/planted.h"
#include "support/source_tree.h"
#include "support/suite.h"
#include "support/faults/table.h"

#include <dirent.h>
#include <string.h>

#define NUMBER_MAX 29

typedef struct promise
{
    unsigned number;
    table_row row;
} promise;

static const promise promises[] = {
    {1,
     {"what may have been done is never told as not done",
      {"outcomes.refused_after_a_copy_that_may_be_done_is_unknown",
       "outcomes.refused_hand_shake_after_a_copy_that_may_be_done_is_unknown", "outcomes.cells_keep_the_two_rules",
       "talk_outcomes.push_that_was_stored_is_not_refused"}}},
    {1,
     {"what may have been stored is never told as full, or as said by nobody",
      {"talk_outcomes.full_is_not_said_of_what_was_stored", "tasks_late.push_that_was_done_is_not_refused",
       "tasks_late.full_queue_is_unknown_when_a_copy_hangs",
       "talk_outcomes.sender_who_is_forgotten_is_not_told_that_he_said_nothing"}}},
    {1,
     {"what is done in parts is never told as refused after the first of them",
      {"outcomes.refused_after_a_part_that_was_done_is_unknown",
       "outcomes.refused_after_the_file_is_gone_is_unknown"}}},
    {1,
     {"a repeat is answered as the first copy was, whatever another has done since",
      {"contacts.full_is_not_said_of_a_block_that_was_undone", "contacts.touch_that_was_kept_out_is_told_so_again"}}},
    {1,
     {"a flush never denies a file that is in the totals, or that a late copy may bring there",
      {"aggregate_late.cancelled_while_a_copy_hangs_is_unknown", "aggregate_late.refused_while_a_copy_hangs_is_unknown",
       "aggregate_late.begun_anew_while_a_copy_hangs_is_unknown", "aggregate_late.look_that_fails_denies_nothing"}}},
    {2, {"a fenced write that was done is never told as fenced", {"lease.fenced_write_that_was_done_is_never_fenced"}}},
    {3,
     {"what was granted unheard does not stay in the store",
      {"lease.lock_that_was_granted_unheard_is_given_back", "lease.permits_that_were_granted_unheard_are_given_back",
       "lease.waiter_that_gives_up_without_a_link_leaves_no_place", "lease.what_could_not_be_told_ends_unknown"}}},
    {4,
     {"a broken mailbox is told as that, and costs no link",
      {"talk_store.numbers_that_cannot_be_are_corrupt", "outcomes.odd_answer_ends_its_op_alone"}}},
    {6,
     {"bytes of a dead link that arrive late take nothing",
      {"lease.late_request_of_a_released_lock_takes_nothing", "lease.late_request_of_a_lock_that_gave_up_does_not_wait",
       "lease.marks_of_late_requests_are_bounded", "semaphore_loss.late_request_of_a_released_permit_takes_nothing",
       "semaphore_loss.release_refuses_what_comes_late", "lock_loss.request_of_the_past_is_granted_nothing"}}},
    {6,
     {"a late copy of a take, a claim or an opening hands nothing out",
      {"tasks_late.take_that_hung_gets_nothing_after_a_later_one",
       "tasks_late.take_that_hung_gets_nothing_after_its_time", "rows_late.late_copy_of_a_claim_gets_nothing",
       "files_older.late_opening_takes_nothing_over"}}},
    {7,
     {"who slept past the lease of a row neither loads nor stores",
      {"rows_late.answer_after_the_lease_calls_no_loader", "rows_late.lease_that_is_over_stores_and_renews_nothing"}}},
    {8,
     {"who holds something learns at once that the store has older data",
      {"lease_told.locks_of_another_server", "lease_told.permits_of_another_server",
       "lease.owner_learns_of_older_data_under_the_same_epoch"}}},
    {9,
     {"a FLUSHALL under connected clients begins a quarantine",
      {"lease.quarantine_holds_after_a_flush_under_connected_clients"}}},
    {10,
     {"what is new is neither removed, nor passed over, nor given an old id, after the store has lost some",
      {"talk_epochs.commits_of_what_is_lost_take_nothing_new", "talk_epochs.readers_of_a_chat_hear_what_is_there",
       "talk_epochs.handled_of_what_is_lost_skips_nothing", "talk_epochs.stale_generations_are_told",
       "talk_epochs.clock_that_went_back_over_a_loss_stops_nobody"}}},
    {10,
     {"what has sums, receipts and numbers goes on from what the store has",
      {"counters_store.older_generation_asks_anew", "counters_store.late_copy_is_not_counted",
       "tasks_over.receipts_take_no_older_generation", "files_older.reader_of_an_older_store_begins_again",
       "files_older.channel_of_an_older_store_is_listed_anew"}}},
    {11,
     {"a script that is stopped in its middle leaves nothing that stays",
      {"prefixes.mailbox", "prefixes.chat", "prefixes.tasks", "prefixes.semaphore", "prefixes.lock",
       "rights.right_that_goes_and_comes"}}},
    {12,
     {"garbage in a key ends the op, and costs nobody the link",
      {"garbage.chat", "garbage.files", "garbage.mailbox", "garbage.tasks", "garbage.rows", "garbage.semaphore"}}},
    {12,
     {"numbers that cannot be are CORRUPT in chats and mailboxes", {"talk_store.numbers_that_cannot_be_are_corrupt"}}},
    {13,
     {"garbage in a key hangs no server",
      {"garbage.files", "garbage.aggregate", "files_older.count_from_beyond_all_numbers_is_not_begun",
       "aggregate_input.record_with_numbers_of_any_size_is_corrupt"}}},
    {14, {"an epoch key of another type is told as that", {"garbage.epoch"}}},
    {15,
     {"a crowd in a key holds nobody up",
      {"garbage.contacts", "garbage.chat", "garbage.mailbox", "garbage.rows", "writers.chat", "writers.mailbox"}}},
    {15,
     {"no list of contacts is run through that is longer than any of ours; any number of clients write",
      {"contacts_store.crowded_keys_are_corrupt_at_once", "contacts_store.writers_know_no_bound",
       "guild_store.writers_know_no_bound"}}},
    {16,
     {"no password in the log or in memory, no forged line",
      {"secrets.password_is_in_no_line_of_a_hand_shake", "secrets.password_is_in_no_line_of_the_wake_link",
       "secrets.server_forges_no_line", "secrets.password_is_in_the_config_alone_once_it_was_sent",
       "secrets.password_is_wiped_by_a_shutdown_at_any_time"}}},
    {17, {"the budget holds for a line without an end", {"files.line_without_an_end_is_unpacked_in_pieces"}}},
    {18,
     {"no number of a key makes two grants with one fence",
      {"lease.fence_is_never_handed_out_twice", "lease.lock_of_a_broken_number_is_corrupt",
       "lease.semaphore_of_a_broken_number_is_corrupt"}}},
    {19,
     {"what was begun with a client is inert when the client is gone",
      {"after_shutdown.what_was_begun_is_inert", "after_shutdown.what_was_asked_for_is_inert",
       "after_shutdown.what_is_held_is_inert", "after_shutdown.what_has_ended_is_inert",
       "after_shutdown.no_function_is_forgotten"}}},
    {20,
     {"a FLUSHALL in the middle of a flush loses nothing of the file; numbers of its answers are not cut",
      {"aggregate.store_that_loses_all_gets_the_whole_file",
       "aggregate_input.answer_with_numbers_of_any_size_is_corrupt"}}},
    {20, {"numbers of a semaphore's answers are not cut", {"lease.numbers_of_a_semaphore_are_not_cut"}}},
    {20,
     {"no payload in the log; a message on the wake channel costs nothing; a drain can be made shorter",
      {"secrets.payload_that_a_server_repeats_is_not_logged", "wake.long_message_does_not_cost_the_link",
       "endings.drain_that_is_asked_for_again_is_over_sooner"}}},
    {21, {"the least of all numbers from the wire is not negated", {"tasks_over.least_number_of_all_is_no_attempt"}}},
    {22,
     {"a client whose server is silent sleeps",
      {"quiet.script_that_is_not_loaded", "quiet.rights_that_are_not_told", "quiet.hand_shake_that_stops_anywhere",
       "quiet.wake_link_in_each_state", "quiet.server_that_stands_still"}}},
    {23,
     {"who has left a chat is shown nothing of what is said afterwards",
      {"talk_outcomes.who_has_left_is_shown_nothing_more",
       "talk_outcomes.who_leaves_in_the_middle_is_shown_nothing_later"}}},
    {24, {"a table of places says which capacity is used up", {"geo.capacities_hold_what_they_say"}}},
    {25,
     {"nothing is done by half while a slot moves",
      {"migrating.lock", "migrating.semaphore", "migrating.tasks", "migrating.files", "migrating.rows",
       "migrating.counters"}}},
    {27,
     {"a queue that is over keeps nothing without a time to live",
      {"tasks_over.nothing_stays_of_a_queue_whose_tasks_are_done",
       "tasks_over.nothing_stays_of_a_queue_with_groups_and_cancelled_tasks",
       "tasks_over.nothing_stays_of_a_queue_that_was_cancelled",
       "tasks_over.nothing_stays_of_a_queue_whose_worker_died"}}},
    {28,
     {"waiters are served in order, also without the wake link",
      {"lease.waiters_without_a_wake_link_are_served_in_order",
       "lease.turn_is_kept_for_as_long_as_its_waiter_may_sleep"}}},
    {29, {"a mirror lets go what the store lets go", {"contacts_store.mirror_lets_go_what_the_store_lets_go"}}},
};

#define PROMISES_COUNT (sizeof(promises) / sizeof(promises[0]))

static void rows_have_numbers_and_tests(void** state)
{
    (void)state;
    for (size_t i = 0; i < PROMISES_COUNT; i++)
    {
        assert_in_range(promises[i].number, 1, NUMBER_MAX);
        table_check(&promises[i].row, 1);
    }
}

static bool has_row(unsigned number)
{
    for (size_t i = 0; i < PROMISES_COUNT; i++)
        if (promises[i].number == number) return true;
    return false;
}

/* 5 and 26 are about the shape of the functions, which is another matter. */
static void every_number_has_a_row(void** state)
{
    (void)state;
    for (unsigned number = 1; number <= NUMBER_MAX; number++)
    {
        if (number == 5 || number == 26 || has_row(number)) continue;
        fail_msg("no row has the number %u", number);
    }
}

/* They cannot rot: whatever changes the text where a fault lay has to change the file, too. */
static void planted_faults_still_apply(void** state)
{
    (void)state;
    char path[SOURCE_TREE_PATH_SIZE];
    assert_true(source_tree_path(path, "tests/planted"));
    DIR* listing = opendir(path);
    assert_non_null(listing);
    unsigned count = 0;
    for (struct dirent* entry = readdir(listing); entry != NULL; entry = readdir(listing))
    {
        size_t size = strlen(entry->d_name);
        if (size <= 4 || strcmp(entry->d_name + size - 4, ".txt") != 0) continue;
        planted_must_apply(entry->d_name);
        count++;
    }
    closedir(listing);
    assert_true(count >= 23);
}

TEST_FILE(promises, cmocka_unit_test(rows_have_numbers_and_tests), cmocka_unit_test(every_number_has_a_row),
          cmocka_unit_test(planted_faults_still_apply));
