/* suite.h -- what every test file needs: cmocka, the list of test files, the run's options.

   To add a file of tests: write tests/FOLDER/test_NAME.c that ends with

       TEST_FILE(NAME, cmocka_unit_test(does_this), cmocka_unit_test(does_that));

   The list of them is made from the folders, when the build files are. Tests are then called NAME.does_this on the
   command line and in the output.

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

#include "test_files.h" /* TEST_FILES(X): all of them */

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

/* --tls: servers also speak TLS, and clients connect through it. */
bool suite_tls(void);

/* --cluster, --sentinel: what stands where a test asks for a server (support/server/front.h). */
typedef enum suite_kind
{
    SUITE_ONE_SERVER,
    SUITE_CLUSTER,
    SUITE_SENTINEL
} suite_kind;

suite_kind suite_store(void);

/* Fails a test of one server that is no part of a run with fleets, where apart.c has forgotten it. */
void suite_one_server(const char* what);

/* What every cap on waiting is multiplied with: 1, or 10 with GUILDHALL_SLOW_MACHINE=1 (valgrind,
   emulators). */
unsigned suite_patience(void);

/* Ends the test as skipped, and says why. */
void suite_skip(const char* reason);

/* For main alone. */
void suite_configure(uint64_t seed, const char* redis_address, bool tls, suite_kind store);
void suite_enter(const char* test_name);
bool suite_was_skipped(void);

#endif
