/* test_support.c -- the test binary itself and the small means of its tests: counts of the heap, seeded
   numbers, waiting, children, and that a test leaves nothing behind, however it ended.

   What can only be seen from outside is seen by running this binary again: the test starts it with its own
   name, and does the misdeed in that run. */

#include "support/cleanup.h"
#include "support/server/fake_server.h"
#include "support/faults/heap.h"
#include "support/process.h"
#include "support/server/proxy.h"
#include "support/random.h"
#include "support/server/raw.h"
#include "support/server/redis_server.h"
#include "support/server/resp.h"
#include "support/scratch.h"
#include "support/sha1.h"
#include "support/source_tree.h"
#include "support/suite.h"
#include "support/wait.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define INNER_MARK "GUILDHALL_INNER_RUN"
#define TEXT_SIZE  16384

/* ---- Runs of this binary ---- */

typedef struct inner_run
{
    int status; /* exit status, or 128 + signal as the shell tells it */
    char text[TEXT_SIZE];
} inner_run;

static bool is_inner(void)
{
    return getenv(INNER_MARK) != NULL;
}

static FILE* open_inner(const char* settings, const char* arguments)
{
    char path[1024], command[2048];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
    assert_true(size > 0);
    path[size] = '\0';
    snprintf(command, sizeof(command), "exec env %s=1 %s '%s' %s 2>&1", INNER_MARK, settings, path, arguments);
    fflush(NULL);
    FILE* output = popen(command, "r");
    assert_non_null(output);
    return output;
}

static inner_run run_inner(const char* settings, const char* arguments)
{
    inner_run result;
    FILE* output = open_inner(settings, arguments);
    size_t size = fread(result.text, 1, sizeof(result.text) - 1, output);
    result.text[size] = '\0';
    int status = pclose(output);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

static inner_run run_this_test_again(const char* settings)
{
    return run_inner(settings, suite_test_name());
}

/* The last line, without its end. */
static const char* last_line(inner_run* run)
{
    size_t size = strlen(run->text);
    while (size > 0 && run->text[size - 1] == '\n') run->text[--size] = '\0';
    const char* line = strrchr(run->text, '\n');
    return line == NULL ? run->text : line + 1;
}

static void expect_run(inner_run* run, int status, const char* last)
{
    if (run->status != status || strcmp(last_line(run), last) != 0)
    {
        fail_msg("an inner run ended with %d and said:\n%s", run->status, run->text);
    }
}

/* ---- What a test leaves behind ---- */

static char process_state(pid_t pid)
{
    char path[64], name[64], state = '-';
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    FILE* file = fopen(path, "r");
    if (file == NULL) return '-';
    if (fscanf(file, "%*d (%63[^)]) %c", name, &state) != 2) state = '-';
    fclose(file);
    return state;
}

/* A zombie is gone: whoever inherited it has yet to look. */
static bool is_gone(pid_t pid)
{
    char state = process_state(pid);
    return state == '-' || state == 'Z' || state == 'X';
}

static int sleep_until_killed(void* context, int results)
{
    (void)context;
    (void)results;
    pause();
    return 1;
}

/* One of everything; says on the output what there is. */
static void start_everything(void)
{
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    fake_server_start(NULL, NULL, redis_server_address(server));
    raw_connect(proxy_address(proxy));
    child_process* child = child_start(sleep_until_killed, NULL);
    redis_server_freeze(redis_server_start(NULL));
    printf("\nscene %ld %ld %s\n", (long)redis_server_pid(server), (long)child_pid(child), scratch_root());
    fflush(stdout);
}

static void expect_nothing_of(const char* text)
{
    long server = 0, child = 0;
    char root[SCRATCH_PATH_SIZE];
    const char* line = strstr(text, "\nscene ");
    assert_non_null(line);
    assert_int_equal(sscanf(line, "\nscene %ld %ld %79s", &server, &child, root), 3);
    WAIT_FOR(is_gone((pid_t)server));
    WAIT_FOR(is_gone((pid_t)child));
    WAIT_FOR(access(root, F_OK) != 0);
}

static void a_failed_test_is_told_and_leaves_nothing(void** state)
{
    (void)state;
    if (is_inner())
    {
        start_everything();
        assert_int_equal(1, 2);
    }
    inner_run run = run_this_test_again("");
    expect_run(&run, 1, "0 passed, 1 failed");
    expect_nothing_of(run.text);
}

static void a_crashed_test_leaves_nothing(void** state)
{
    (void)state;
    if (is_inner())
    {
        start_everything();
        abort();
    }
    inner_run run = run_this_test_again("");
    assert_int_equal(run.status, 128 + SIGABRT);
    expect_nothing_of(run.text);
}

static void a_killed_run_leaves_nothing(void** state)
{
    (void)state;
    if (is_inner())
    {
        start_everything();
        kill(getpid(), SIGKILL);
    }
    inner_run run = run_this_test_again("");
    assert_int_equal(run.status, 128 + SIGKILL);
    expect_nothing_of(run.text);
}

static void a_hung_test_is_told_and_leaves_nothing(void** state)
{
    (void)state;
    if (is_inner())
    {
        start_everything();
        sleep_until_killed(NULL, 0);
    }
    inner_run run = run_this_test_again("GUILDHALL_HANG_SECONDS=1");
    expect_run(&run, 124, "0 passed, 1 failed");
    assert_non_null(strstr(run.text, "watchdog: support.a_hung_test_is_told_and_leaves_nothing hung"));
    expect_nothing_of(run.text);
}

static void a_skipped_test_neither_passes_nor_fails(void** state)
{
    (void)state;
    if (is_inner())
    {
        start_everything();
        suite_skip("for a reason");
    }
    inner_run run = run_this_test_again("");
    expect_run(&run, 0, "0 passed, 0 failed");
    assert_non_null(strstr(run.text, "\n1 skipped\n"));
    assert_non_null(strstr(run.text, "skipped: for a reason"));
    expect_nothing_of(run.text);
}

static int assert_in_a_child(void* context, int results)
{
    (void)context;
    (void)results;
    assert_int_equal(1, 2);
    return 0;
}

/* It jumps into the child's copy of the runner, which must not go on with the tests. */
static void an_assertion_in_a_child_ends_the_child_alone(void** state)
{
    (void)state;
    if (is_inner())
    {
        assert_int_equal(child_wait(child_start(assert_in_a_child, NULL)), 101);
        return;
    }
    inner_run run = run_this_test_again("");
    expect_run(&run, 0, "1 passed, 0 failed");
}

static void an_audit_that_errs_fails_the_test(void** state)
{
    (void)state;
    if (is_inner()) redis_server_do(redis_server_start(NULL), "NONSENSE");
    inner_run run = run_this_test_again("");
    expect_run(&run, 1, "0 passed, 1 failed");
    assert_non_null(strstr(run.text, "unknown command"));
}

static void on_a_given_server_only_its_own_keys_are_removed(void** state)
{
    (void)state;
    if (is_inner())
    {
        redis_server* given = redis_server_any();
        redis_server_do(given, "SET %s:{lock:a}:k 1", redis_server_prefix(given));
        redis_server_do(given, "SET %s:{lock:b}:k 1", redis_server_prefix(given));
        assert_int_equal(redis_server_keys(given), 2);
        assert_string_not_equal(redis_server_prefix(given), "gh");
        assert_int_equal(redis_server_pid(given), 0);
        return;
    }
    char arguments[256];
    redis_server* server = redis_server_start(NULL);
    redis_server_do(server, "SET gh:{lock:a}:k 1");
    snprintf(arguments, sizeof(arguments), "--redis %s %s", redis_server_address(server), suite_test_name());
    inner_run run = run_inner("", arguments);
    expect_run(&run, 0, "1 passed, 0 failed");
    assert_int_equal(redis_server_keys(server), 1);
    assert_int_equal(redis_server_calls(server, "del"), 2);
}

/* ---- The command line ---- */

static void the_seed_repeats_a_run(void** state)
{
    (void)state;
    if (is_inner())
    {
        random_stream stream = random_for_test("label");
        printf("\ndrawn %llx\n", (unsigned long long)random_next(&stream));
        return;
    }
    inner_run run = run_this_test_again("GUILDHALL_SEED=0x123abc");
    inner_run same = run_this_test_again("GUILDHALL_SEED=1194684");
    inner_run other = run_this_test_again("GUILDHALL_SEED=2");
    expect_run(&run, 0, "1 passed, 0 failed");
    assert_memory_equal(run.text, "seed 0x0000000000123abc\n", 24);
    const char* drawn = strstr(run.text, "\ndrawn ");
    assert_non_null(drawn);
    assert_memory_equal(strstr(same.text, "\ndrawn "), drawn, 16);
    assert_memory_not_equal(strstr(other.text, "\ndrawn "), drawn, 16);
}

static void patterns_choose_the_tests(void** state)
{
    (void)state;
    static const char* const lines[][2] = {
        {"the_seed_repeats", "support.the_seed_repeats_a_run"},
        {"'support.the_seed*'", "support.the_seed_repeats_a_run"},
        {"'*seed_repeats_?_run'", "support.the_seed_repeats_a_run"},
        {"support.the_s --skip platform", "support.the_seed_repeats_a_run"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
    {
        char arguments[256];
        snprintf(arguments, sizeof(arguments), "--list %s", lines[i][0]);
        inner_run run = run_inner("", arguments);
        expect_run(&run, 0, lines[i][1]);
        assert_string_equal(run.text, lines[i][1]); /* and nothing before it */
    }
    inner_run all = run_inner("", "--list support.");
    inner_run fewer = run_inner("", "--list support. --skip=support.patterns --skip seed");
    assert_int_equal(all.status + fewer.status, 0);
    assert_non_null(strstr(all.text, "support.patterns_choose_the_tests\n"));
    assert_null(strstr(fewer.text, "support.patterns_choose_the_tests\n"));
    assert_null(strstr(fewer.text, "seed"));
    assert_int_equal(strlen(all.text) - strlen(fewer.text),
                     strlen("support.patterns_choose_the_tests\nsupport.the_seed_repeats_a_run\n"));
}

static void times_are_told_longest_first(void** state)
{
    (void)state;
    if (is_inner()) return;
    inner_run run = run_inner("", "--times support.times_are platform.clock");
    const char* line = strstr(run.text, " s  all\n");
    assert_int_equal(run.status, 0);
    assert_non_null(line);
    assert_non_null(strstr(line, " s  support.times_are_told_longest_first\n"));
    double before = 1e9;
    double took = 0;
    int tests = 0;
    for (line = strchr(line, '\n') + 1; sscanf(line, "%lf s  %*s", &took) == 1 && strstr(line, " s  ") != NULL;
         line = strchr(line, '\n') + 1, tests++)
    {
        assert_true(took <= before);
        before = took;
    }
    assert_in_range(tests, 1, 30);
}

static void nonsense_on_the_command_line_is_refused(void** state)
{
    (void)state;
    static const char* const wrong[] = {
        "no_test_has_this_name",       "support --skip support", "--nonsense", "--redis", "--skip",
        "--list no_test_has_this_name"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
    {
        inner_run run = run_inner("", wrong[i]);
        if (run.status != 2) fail_msg("%s: status %d\n%s", wrong[i], run.status, run.text);
    }
    inner_run run = run_inner("GUILDHALL_SEED=12x", "--list");
    assert_int_equal(run.status, 2);
    run = run_inner("", "--help");
    assert_int_equal(run.status, 0);
}

/* ---- The heap ---- */

static void call_each_once(void)
{
    void* volatile first = malloc(1);
    void* volatile second = calloc(1, 1);
    second = realloc(second, 100);
    char* volatile third = strdup("text");
    void* fourth = NULL;
    void* volatile none = NULL; /* volatile, because compilers know what free(NULL) does */
    assert_int_equal(posix_memalign(&fourth, 64, 64), 0);
    free(first);
    free(second);
    free(third);
    free(fourth);
    free(none);
}

static void the_heap_is_counted_call_by_call(void** state)
{
    (void)state;
    assert_true(heap_watch_works());
    call_each_once(); /* before the begin */
    heap_watch_begin();
    call_each_once();
    heap_counts seen = heap_watch_end();
    call_each_once(); /* after the end */
    assert_int_equal(seen.malloc_calls, 1);
    assert_int_equal(seen.calloc_calls, 1);
    assert_int_equal(seen.realloc_calls, 1);
    assert_int_equal(seen.strdup_calls, 1);
    assert_int_equal(seen.posix_memalign_calls, 1);
    assert_int_equal(seen.free_calls, 5);
    assert_int_equal(seen.total, 10);
    heap_watch_begin();
    seen = heap_watch_end();
    assert_int_equal(seen.total, 0);
}

static void the_check_of_the_heap_does_not_disturb_a_watch(void** state)
{
    (void)state;
    heap_watch_begin();
    void* volatile block = malloc(1);
    bool works = heap_watch_works();
    free(block);
    heap_counts seen = heap_watch_end();
    assert_true(works);
    assert_int_equal(seen.malloc_calls, 1);
    assert_int_equal(seen.total, 2);
}

static void* use_the_heap(void* argument)
{
    call_each_once();
    return argument;
}

static void the_heap_of_other_threads_is_not_counted(void** state)
{
    (void)state;
    pthread_t thread;
    heap_watch_begin();
    int failed = pthread_create(&thread, NULL, use_the_heap, NULL); /* allocates inside a shared library */
    if (failed == 0) pthread_join(thread, NULL);
    heap_counts seen = heap_watch_end();
    assert_int_equal(failed, 0);
    assert_int_equal(seen.total, 0);
}

static void the_heap_of_a_static_library_is_counted(void** state)
{
    (void)state;
    heap_watch_begin();
    redisReader* reader = redisReaderCreate();
    redisReaderFree(reader);
    heap_counts seen = heap_watch_end();
    assert_true(seen.total >= 2);
}

/* ---- Random numbers ---- */

static void random_numbers_are_those_of_splitmix(void** state)
{
    (void)state;
    random_stream stream = random_from_seed(0);
    assert_true(random_next(&stream) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(random_next(&stream) == UINT64_C(0x6e789e6aa1b965f4));
    assert_true(random_next(&stream) == UINT64_C(0x06c45d188009454f));
}

static void random_numbers_stay_in_range_and_reach_all_of_it(void** state)
{
    (void)state;
    random_stream stream = random_from_seed(7);
    unsigned below[10] = {0}, between[4] = {0}, hits = 0;
    for (int i = 0; i < 10000; i++)
    {
        below[random_below(&stream, 10)]++;
        between[random_between(&stream, 5, 8) - 5]++;
        if (random_one_in(&stream, 4)) hits++;
        assert_int_equal(random_below(&stream, 1), 0);
        assert_true(random_between(&stream, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
        assert_true(random_between(&stream, 1, UINT64_MAX) >= 1);
    }
    for (size_t i = 0; i < 10; i++) assert_in_range(below[i], 850, 1150);
    for (size_t i = 0; i < 4; i++) assert_in_range(between[i], 2300, 2700);
    assert_in_range(hits, 2300, 2700);
    assert_true(random_between(&stream, 0, UINT64_MAX) != random_between(&stream, 0, UINT64_MAX));
}

static void random_streams_of_a_test_are_its_own(void** state)
{
    (void)state;
    random_stream first = random_for_test("a");
    random_stream again = random_for_test("a");
    random_stream other = random_for_test("b");
    uint64_t drawn = random_next(&first);
    assert_true(random_next(&again) == drawn);
    assert_true(random_next(&other) != drawn);
    unsigned char bytes[40];
    memset(bytes, 0xa5, sizeof(bytes));
    random_fill(&first, bytes + 1, 33);
    assert_int_equal(bytes[0], 0xa5);
    for (size_t i = 34; i < sizeof(bytes); i++) assert_int_equal(bytes[i], 0xa5);
    assert_memory_not_equal(bytes + 1, bytes + 17, 16);
}

/* ---- Waiting ---- */

static int count_to_the_end(void* context, int results)
{
    (void)context;
    for (int i = 0; i < 3; i++) CHILD_CHECK(write(results, "abc", 3) == 3);
    return 7;
}

static void waiting_ends_when_the_condition_holds(void** state)
{
    (void)state;
    unsigned looks = 0;
    uint64_t begin_us = wait_now_us();
    uint64_t cap_us = wait_cap_us();
    assert_in_range(cap_us - begin_us, UINT64_C(60000000) * suite_patience(), UINT64_C(61000000) * suite_patience());
    WAIT_FOR(++looks == 5);
    assert_true(wait_now_us() - begin_us >= 4 * 200);
}

/* ---- Children ---- */

static void children_report_and_end(void** state)
{
    (void)state;
    char bytes[16];
    child_process* child = child_start(count_to_the_end, NULL);
    assert_int_equal(child_read(child, bytes, 4), 4);
    assert_int_equal(child_read(child, bytes + 4, 12), 5); /* the end comes first */
    assert_memory_equal(bytes, "abcabcabc", 9);
    assert_int_equal(child_wait(child), 7);
    assert_true(child_has_ended(child));
    assert_int_equal(child_wait(child), 7);
}

static int check_in_vain(void* context, int results)
{
    (void)results;
    close(STDERR_FILENO); /* the line is not for those who read this run */
    CHILD_CHECK(context != NULL);
    return 0;
}

static void children_check_in_their_own_way(void** state)
{
    (void)state;
    assert_int_equal(child_wait(child_start(check_in_vain, NULL)), 100);
    assert_int_equal(child_wait(child_start(check_in_vain, state)), 0);
}

static void children_are_frozen_thawed_and_killed(void** state)
{
    (void)state;
    child_process* child = child_start(sleep_until_killed, NULL);
    pid_t pid = child_pid(child);
    assert_false(child_has_ended(child));
    child_freeze(child);
    assert_int_equal(process_state(pid), 'T');
    child_thaw(child);
    WAIT_FOR(process_state(pid) == 'S');
    child_freeze(child);
    child_kill9(child);
    assert_true(is_gone(pid));
    assert_int_equal(child_wait(child), 128 + SIGKILL);
    child_end(child);
}

/* ---- Cleaning up ---- */

static char ended[8];

static void note_end(void* thing)
{
    strncat(ended, (const char*)thing, 1);
}

static void cleanup_runs_backwards_and_once(void** state)
{
    (void)state;
    static char things[] = {'a', 'b', 'c'};
    ended[0] = '\0';
    for (size_t i = 0; i < 3; i++) cleanup_add(note_end, &things[i]);
    cleanup_forget(&things[1]);
    cleanup_forget(ended); /* was never there */
    cleanup_run();
    assert_string_equal(ended, "ca");
    cleanup_run();
    assert_string_equal(ended, "ca");
}

static void what_is_kept_outlives_the_test(void** state)
{
    (void)state;
    static char things[] = {'a', 'b', 'c', 'd'};
    ended[0] = '\0';
    cleanup_add(note_end, &things[0]);
    size_t mark = cleanup_mark();
    cleanup_add(note_end, &things[1]);
    cleanup_add(note_end, &things[2]);
    cleanup_keep(mark);
    cleanup_add(note_end, &things[3]);
    cleanup_run();
    assert_string_equal(ended, "da");
    cleanup_forget(&things[1]);
    cleanup_forget(&things[2]);
    cleanup_add(note_end, &things[3]);
    cleanup_run();
    assert_string_equal(ended, "dad");
}

static void kept_server_serves_the_next_test(void** state)
{
    (void)state;
    redis_server* node = redis_server_cluster_node();
    redis_server_do(node, "SET a 1");
    cleanup_run();
    assert_ptr_equal(redis_server_cluster_node(), node);
    assert_int_equal(redis_server_integer(node, "DBSIZE"), 0);
    redis_server_do(node, "SET {b}c 1");
}

static void folders_are_new_and_removed(void** state)
{
    (void)state;
    char first[SCRATCH_PATH_SIZE], second[SCRATCH_PATH_SIZE], file[SCRATCH_PATH_SIZE + 8];
    scratch_folder(first);
    scratch_folder(second);
    assert_string_not_equal(first, second);
    snprintf(file, sizeof(file), "%s/file", second);
    FILE* made = fopen(file, "w");
    assert_non_null(made);
    fclose(made);
    scratch_remove(second);
    assert_int_equal(access(second, F_OK), -1);
    scratch_remove(second);
    cleanup_run();
    assert_int_equal(access(first, F_OK), -1);
}

/* ---- The rest ---- */

static void replies_are_measured(void** state)
{
    (void)state;
    static const char* const whole[] = {
        "+\r\n",      "+OK\r\n",           "-ERR x\r\n", ":-12\r\n", "$-1\r\n",
        "$0\r\n\r\n", "$5\r\na\r\nbc\r\n", "*-1\r\n",    "*0\r\n",   "*2\r\n:1\r\n*1\r\n$1\r\nx\r\n"};
    static const char* const none[] = {"x", "\r\n", "$\r\n", "$a\r\n", "*1\r\nx", "$ 1\r\n", "*\n\n\n\n"};
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
    {
        size_t size = strlen(whole[i]);
        for (size_t part = 0; part < size; part++) assert_int_equal(resp_reply_size(whole[i], part), 0);
        assert_int_equal(resp_reply_size(whole[i], size), size);
        char more[64];
        snprintf(more, sizeof(more), "%s+OK\r\n", whole[i]);
        assert_int_equal(resp_reply_size(more, strlen(more)), size);
    }
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
    {
        assert_int_equal(resp_reply_size(none[i], strlen(none[i])), -1);
    }
}

static void sha1_gives_the_digests_of_its_standard(void** state)
{
    (void)state;
    char hex[41];
    sha1_hex("", 0, hex);
    assert_string_equal(hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    sha1_hex("abc", 3, hex);
    assert_string_equal(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
    sha1_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex);
    assert_string_equal(hex, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

static void sources_are_found(void** state)
{
    (void)state;
    char path[SOURCE_TREE_PATH_SIZE];
    assert_true(source_tree_path(path, "tests/support/test_support.c"));
    assert_int_equal(access(path, R_OK), 0);
    assert_false(source_tree_path(path, "tests/no_such_file"));
}

TEST_FILE(
    support, cmocka_unit_test(a_failed_test_is_told_and_leaves_nothing),
    cmocka_unit_test(a_crashed_test_leaves_nothing), cmocka_unit_test(a_killed_run_leaves_nothing),
    cmocka_unit_test(a_hung_test_is_told_and_leaves_nothing), cmocka_unit_test(a_skipped_test_neither_passes_nor_fails),
    cmocka_unit_test(an_assertion_in_a_child_ends_the_child_alone), cmocka_unit_test(an_audit_that_errs_fails_the_test),
    cmocka_unit_test(on_a_given_server_only_its_own_keys_are_removed), cmocka_unit_test(the_seed_repeats_a_run),
    cmocka_unit_test(patterns_choose_the_tests), cmocka_unit_test(times_are_told_longest_first),
    cmocka_unit_test(nonsense_on_the_command_line_is_refused), cmocka_unit_test(the_heap_is_counted_call_by_call),
    cmocka_unit_test(the_check_of_the_heap_does_not_disturb_a_watch),
    cmocka_unit_test(the_heap_of_other_threads_is_not_counted),
    cmocka_unit_test(the_heap_of_a_static_library_is_counted), cmocka_unit_test(random_numbers_are_those_of_splitmix),
    cmocka_unit_test(random_numbers_stay_in_range_and_reach_all_of_it),
    cmocka_unit_test(random_streams_of_a_test_are_its_own), cmocka_unit_test(waiting_ends_when_the_condition_holds),
    cmocka_unit_test(children_report_and_end), cmocka_unit_test(children_check_in_their_own_way),
    cmocka_unit_test(children_are_frozen_thawed_and_killed), cmocka_unit_test(cleanup_runs_backwards_and_once),
    cmocka_unit_test(what_is_kept_outlives_the_test), cmocka_unit_test(kept_server_serves_the_next_test),
    cmocka_unit_test(folders_are_new_and_removed), cmocka_unit_test(replies_are_measured),
    cmocka_unit_test(sha1_gives_the_digests_of_its_standard), cmocka_unit_test(sources_are_found));
