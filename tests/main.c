/* The test binary: guildhall_tests [--redis HOST:PORT|unix:PATH] [--list] [FILTER ...]

   First line: the seed. Last line: "N passed, N failed". Exit 0 only if nothing failed. */

#include "support/cleanup.h"
#include "support/scratch.h"
#include "support/suite.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WATCHDOG_SECONDS 120
#define NAME_SIZE 128

/* Stands in for a test towards cmocka, so that something can happen before and after every test. */
typedef struct test_record
{
    const struct CMUnitTest* test;
    char name[NAME_SIZE]; /* "file.test" */
    bool returned;        /* the body came to its end: no assertion jumped out */
} test_record;

typedef struct test_list
{
    test_record* records;
    struct CMUnitTest* stand_ins;
    size_t count;
} test_list;

static const char usage[] =
    "guildhall_tests [--redis HOST:PORT|unix:PATH] [--list] [FILTER ...]\n"
    "\n"
    "  FILTER   run the tests whose FILE.NAME contains it, or matches it if it has a * or a ?\n"
    "  --list   print the names instead of running\n"
    "  --redis  a server to use where a test does not need one of its own; keys get a random prefix\n"
    "\n"
    "  GUILDHALL_SEED=0x...       repeat a run\n"
    "  GUILDHALL_SLOW_MACHINE=1   wait ten times as long before giving up\n";

static test_record* current;
static pid_t runner; /* a child of a test must never report as if it were the run */
static size_t passed;
static size_t skipped;
static size_t finished;

/* The watchdog does not try to save the rest of the run: whatever hangs may hold anything. Servers die with this
   process, and the scratch folder's sweeper cleans up. */
static void on_alarm(int signal_number)
{
    char text[NAME_SIZE + 160];
    int size = snprintf(text, sizeof(text), "\nwatchdog: %s hung and was killed; the tests after it did not run\n"
                        "%zu passed, %zu failed\n", current == NULL ? "?" : current->name, passed,
                        finished - passed - skipped + 1);
    (void)signal_number;
    if (size > 0 && write(STDOUT_FILENO, text, (size_t)size) < 0) _exit(125);
    _exit(124);
}

static void leave_child(void)
{
    if (getpid() != runner) _exit(101); /* a failed assertion in a child jumped into its copy of the runner */
}

static int before_test(void** state)
{
    current = *state;
    cleanup_run(); /* what a test left behind whose teardown failed */
    suite_enter(current->name);
    alarm(WATCHDOG_SECONDS * suite_patience());
    *state = current->test->initial_state;
    finished++;
    return current->test->setup_func == NULL ? 0 : current->test->setup_func(state);
}

static void run_body(void** state)
{
    current->test->test_func(state);
    leave_child();
    current->returned = true;
}

static int after_test(void** state)
{
    leave_child();
    int result = current->test->teardown_func == NULL ? 0 : current->test->teardown_func(state);
    cleanup_run();
    alarm(0);
    if (current->returned && result == 0) passed++;
    if (suite_was_skipped()) skipped++;
    return result;
}

static bool is_wanted(const char* name, char** filters, int filter_count)
{
    for (int i = 0; i < filter_count; i++)
    {
        bool pattern = strpbrk(filters[i], "*?[") != NULL;
        if (pattern ? fnmatch(filters[i], name, 0) == 0 : strstr(name, filters[i]) != NULL) return true;
    }
    return filter_count == 0;
}

static void add_file(test_list* list, const char* file, const struct CMUnitTest* tests, size_t count, char** filters,
                     int filter_count)
{
    list->records = realloc(list->records, (list->count + count) * sizeof(*list->records));
    if (list->records == NULL) abort();
    for (size_t i = 0; i < count; i++)
    {
        test_record* record = &list->records[list->count];
        memset(record, 0, sizeof(*record));
        record->test = &tests[i];
        snprintf(record->name, sizeof(record->name), "%s.%s", file, tests[i].name);
        if (is_wanted(record->name, filters, filter_count)) list->count++;
    }
}

static void make_stand_ins(test_list* list)
{
    list->stand_ins = calloc(list->count + 1, sizeof(*list->stand_ins));
    if (list->stand_ins == NULL) abort();
    for (size_t i = 0; i < list->count; i++)
    {
        list->stand_ins[i].name = list->records[i].name;
        list->stand_ins[i].test_func = run_body;
        list->stand_ins[i].setup_func = before_test;
        list->stand_ins[i].teardown_func = after_test;
        list->stand_ins[i].initial_state = &list->records[i];
    }
}

static uint64_t choose_seed(void)
{
    const char* given = getenv("GUILDHALL_SEED");
    if (given != NULL && given[0] != '\0') return strtoull(given, NULL, 0);
    uint64_t seed = (uint64_t)getpid();
    int source = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (source >= 0)
    {
        if (read(source, &seed, sizeof(seed)) != (ssize_t)sizeof(seed)) seed ^= UINT64_C(0x5bd1e995);
        close(source);
    }
    return seed;
}

static int run(test_list* list)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);

    runner = getpid();
    scratch_root();
    make_stand_ins(list);
    int failed = _cmocka_run_group_tests("guildhall", list->stand_ins, list->count, NULL, NULL);
    alarm(0);
    cleanup_run();
    scratch_close();
    size_t not_run = list->count - passed - (size_t)failed;
    if (not_run > 0) printf("%zu skipped\n", not_run);
    fflush(stderr);
    printf("%zu passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}

int main(int argc, char** argv)
{
    const char* redis_address = NULL;
    bool list_only = false;
    int filter_count = 0;
    char** filters = argv + 1; /* moved to the front of argv as they are found */
    for (int i = 1; i < argc; i++)
    {
        if (strcmp(argv[i], "--redis") == 0 && i + 1 < argc) redis_address = argv[++i];
        else if (strncmp(argv[i], "--redis=", 8) == 0) redis_address = argv[i] + 8;
        else if (strcmp(argv[i], "--list") == 0) list_only = true;
        else if (argv[i][0] != '-') filters[filter_count++] = argv[i];
        else
        {
            bool asked = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
            fputs(usage, asked ? stdout : stderr);
            return asked ? 0 : 2;
        }
    }

    test_list list = {NULL, NULL, 0};
#define ADD_FILE(file) add_file(&list, #file, test_##file, test_##file##_count, filters, filter_count);
    TEST_FILES(ADD_FILE)
#undef ADD_FILE

    int result = 0;
    setvbuf(stdout, NULL, _IOLBF, 0); /* so that lines of stdout and stderr keep their order in a pipe */
    if (list_only)
    {
        for (size_t i = 0; i < list.count; i++) printf("%s\n", list.records[i].name);
    }
    else
    {
        suite_configure(choose_seed(), redis_address);
        printf("seed 0x%016llx\n", (unsigned long long)suite_seed());
        if (list.count == 0) fprintf(stderr, "no test has a name like that\n");
        result = list.count == 0 ? 2 : run(&list);
        if (list.count == 0) printf("0 passed, 0 failed\n");
    }
    free(list.records);
    free(list.stand_ins);
    return result;
}
