/* suite.h -- what every test file needs: cmocka, the list of test files, the run's options.

   To add a file of tests: write tests/test_NAME.c that ends with

       TEST_FILE(NAME, cmocka_unit_test(does_this), cmocka_unit_test(does_that));

   and add X(NAME) to the list below. Tests are then called NAME.does_this on the command line and in the
   output.

   Every test runs with an empty scene: servers, proxies, children and folders that it started through this
   support code are ended after it, also when an assertion failed in the middle. So a test need not end what
   it started. Assertions (cmocka's jump out of the test) belong to the main thread alone: not to callbacks
   that run on another thread, not to child processes. */

#ifndef GUILDHALL_TESTS_SUITE_H
#define GUILDHALL_TESTS_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST_FILES(X)                                                                                        \
    X(support) X(servers) X(proxy) X(fake) X(platform) X(platform_tcp) X(base)                               \
    X(wire) X(reader) X(reader_hostile) X(flat)                                                              \
    X(keys) X(keys_page)                                                                                     \
    X(command) X(command_end) X(command_script) X(command_fence) X(command_faults)                           \
    X(lease) X(lock) X(lock_faults) X(lock_loss) X(lock_input) X(lock_fleet) X(lock_set)                              \
    X(client) X(client_config) X(log) X(secrets)                                                             \
    X(backoff) X(resolver) X(time)                                                                           \
    X(deadline) X(quiet)                                                                                     \
    X(peers)                                                                                                 \
    X(samples)                                                                                               \
    X(link)                                                                                                  \
    X(tasks) X(tasks_order) X(tasks_worker) X(tasks_input) X(tasks_store) X(tasks_faults) X(tasks_fleet)      \
    X(tasks_fair) X(tasks_late) X(tasks_over) X(tasks_passed)                                                    \
    X(fold) X(contacts) X(contacts_mirror) X(contacts_store) X(contacts_faults)                              \
    X(guild) X(guild_store) X(guild_input) X(guild_faults)                                                   \
    X(mailbox) X(mailbox_faults) X(chat) X(chat_feed) X(chat_faults) X(talk_input) X(talk_store) \
    X(talk_epochs) X(talk_outcomes) \
    X(semaphore) X(semaphore_loss) X(semaphore_input) X(semaphore_faults)                                    \
    X(rows) X(rows_refresh) X(rows_late) X(rows_faults)                                                               \
    X(talk_fleet)                                                                                            \
    X(counters) X(counters_fleet) X(counters_clean) X(counters_store) X(counters_faults) X(counters_input) X(python) \
    X(reconnect)                                                                                                     \
    X(reply_classes) X(rights) X(epoch)                                                                              \
    X(server_states)                                                                                                 \
    X(endings) X(outcomes) X(after_shutdown)                                                                          \
    X(capacity)                                                                                                      \
    X(budget)                                                                                                        \
    X(memory)                                                                                                        \
    X(calls)                                                                                                         \
    X(wake)                                                                                                          \
    X(storm)                                                                                                         \
    X(geo)                                                                                                   \
    X(reads_faults)                                                                                          \
    X(files) X(files_older) X(files_store) X(files_input) X(files_faults) X(files_fleet)                              \
    X(aggregate) X(aggregate_late) X(aggregate_input) X(aggregate_faults)                                        \
    X(defects_files) X(defects_talk) X(defects_work) X(defects_data) X(defects_cluster) X(pitfalls)          \
    X(promises) X(drill) X(garbage) X(prefixes) X(migrating) X(writers)                                        \
    X(sanity) X(handshake)                                                                                       \
    X(game_messages) X(game_board) X(game_checks) X(game_fleet) X(game_page)

#define TEST_FILE(file, ...)                                                                                 \
    const struct CMUnitTest test_##file[] = {__VA_ARGS__};                                                   \
    const size_t test_##file##_count = sizeof(test_##file) / sizeof(test_##file[0])

#define TEST_FILE_DECLARE(file)                                                                              \
    extern const struct CMUnitTest test_##file[];                                                            \
    extern const size_t test_##file##_count;
TEST_FILES(TEST_FILE_DECLARE)

/* The run's seed: the first line that the binary prints; GUILDHALL_SEED sets it. */
uint64_t suite_seed(void);

/* "NAME.does_this" of the test that is running. */
const char* suite_test_name(void);

/* The server of --redis, or NULL when tests start their own. */
const char* suite_redis_address(void);

/* What every cap on waiting is multiplied with: 1, or 10 with GUILDHALL_SLOW_MACHINE=1 (valgrind,
   emulators). */
unsigned suite_patience(void);

/* Ends the test as skipped, and says why. */
void suite_skip(const char* reason);

/* For main alone. */
void suite_configure(uint64_t seed, const char* redis_address);
void suite_enter(const char* test_name);
bool suite_was_skipped(void);

#endif
