/* main.c -- the test binary: chooses tests, runs each on a clean scene, and says how it went.

   First line: the seed. Last line: "N passed, N failed". Exit status: 0 nothing failed, 1 something failed, 2
   the command line made no sense or named no test, 124 a test hung. */

#include "support/cleanup.h"
#include "support/scene/apart.h"
#include "support/scene/fronted.h"
#include "support/scene/secure.h"
#include "support/scratch.h"
#include "support/suite.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HANG_SECONDS 120
#define NAME_SIZE    128
#define SLOWEST      30

/* Stands in for a test towards cmocka, so that something can happen before and after every test. */
typedef struct test_record
{
    const struct CMUnitTest* test;
    char name[NAME_SIZE]; /* "file.test" */
    bool returned;        /* the body came to its end: no assertion jumped out */
    uint64_t began_us;
    uint64_t took_us; /* with what comes before and after the body */
} test_record;

typedef struct test_list
{
    test_record* records;
    struct CMUnitTest* stand_ins;
    size_t count;
} test_list;

typedef struct patterns
{
    const char** values;
    size_t count;
} patterns;

/* What the command line says. */
typedef struct options
{
    patterns wanted; /* none: all */
    patterns skipped;
    const char* redis_address;
    size_t part; /* of so many; from 0 on */
    size_t parts;
    bool list_only;
    bool times;
    bool help;
    bool tls;
    suite_kind store;
} options;

static const char usage[] =
    "guildhall_tests [--redis HOST:PORT|unix:PATH | --tls | --cluster | --sentinel] [--skip PATTERN] [--list] "
    "[--times]\n"
    "                [--part K/N] [PATTERN ...]\n"
    "\n"
    "  PATTERN  a part of FILE.NAME, or the whole of it if it has a *, a ? or a [ in it\n"
    "  --skip   leave out the tests that fit, also when another pattern names them; may be repeated\n"
    "  --list   print the names instead of running\n"
    "  --times  say at the end which tests took longest\n"
    "  --part   K/N: of these, each Nth from the Kth on, for N processes beside each other\n"
    "  --redis  a server to use where a test does not need one of its own; keys get a random prefix\n"
    "  --tls    clients speak TLS\n"
    "  --cluster, --sentinel  a fleet stands where a test asks for a server\n"
    "           these three without the tests that tests/support/scene/apart.c names, with a reason\n"
    "\n"
    "  GUILDHALL_SEED=0x...        repeat a run\n"
    "  GUILDHALL_SLOW_MACHINE=1    wait ten times as long before giving up\n"
    "  GUILDHALL_HANG_SECONDS=120  how long a single test may take\n";

static test_record* current;
static pid_t runner; /* a child of a test must never report as if it were the run */
static size_t begun;
static size_t passed;
static size_t skipped;
static size_t fitting;  /* whichever part they belong to */
static size_t left_out; /* by apart.c */
static unsigned hang_seconds;

/* The watchdog does not try to save the rest of the run: whatever hangs may hold anything. Servers die with
   this process, and the scratch folder's sweeper cleans up. */
static void on_alarm(int signal_number)
{
    char text[NAME_SIZE + 160];
    int size = snprintf(text, sizeof(text),
                        "\nwatchdog: %s hung; it and the tests after it are given up\n"
                        "%zu passed, %zu failed\n",
                        current->name, passed, begun - passed - skipped);
    (void)signal_number;
    if (size > 0 && write(STDOUT_FILENO, text, (size_t)size) < 0) _exit(125);
    _exit(124);
}

static void leave_child(void)
{
    if (getpid() != runner) _exit(101); /* a failed assertion in a child jumped into its copy of the runner */
}

static uint64_t now_us(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) abort();
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static int before_test(void** state)
{
    current = *state;
    current->began_us = now_us();
    begun++;
    suite_enter(current->name);
    alarm(hang_seconds);
    cleanup_run(); /* what a test left behind whose teardown failed */
    *state = current->test->initial_state;
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
    current->took_us = now_us() - current->began_us;
    if (current->returned && result == 0) passed++;
    if (suite_was_skipped()) skipped++;
    return result;
}

static bool fits_one_of(const char* name, const patterns* list)
{
    for (size_t i = 0; i < list->count; i++)
    {
        const char* pattern = list->values[i];
        bool whole = strpbrk(pattern, "*?[") != NULL;
        if (whole ? fnmatch(pattern, name, 0) == 0 : strstr(name, pattern) != NULL) return true;
    }
    return false;
}

/* What kind of run it is, of apart.h; 0: an ordinary one. */
static unsigned run_of(const options* chosen)
{
    if (chosen->store == SUITE_CLUSTER) return APART_CLUSTER;
    if (chosen->store == SUITE_SENTINEL) return APART_SENTINEL;
    return chosen->tls ? APART_TLS : 0;
}

static bool is_wanted(const char* name, const options* chosen)
{
    if (fits_one_of(name, &chosen->skipped)) return false;
    if (chosen->wanted.count > 0 && !fits_one_of(name, &chosen->wanted)) return false;
    if (fitting++ % chosen->parts != chosen->part) return false;
    if (apart_find(name, run_of(chosen)) == NULL) return true;
    left_out++;
    return false;
}

static void* must_have(void* memory)
{
    if (memory == NULL) abort();
    return memory;
}

static void add_file(test_list* list, const char* file, const struct CMUnitTest* tests, size_t count,
                     const options* chosen)
{
    list->records = must_have(realloc(list->records, (list->count + count) * sizeof(*list->records)));
    for (size_t i = 0; i < count; i++)
    {
        test_record* record = &list->records[list->count];
        memset(record, 0, sizeof(*record));
        record->test = &tests[i];
        snprintf(record->name, sizeof(record->name), "%s.%s", file, tests[i].name);
        if (is_wanted(record->name, chosen)) list->count++;
    }
}

static void make_stand_ins(test_list* list)
{
    list->stand_ins = must_have(calloc(list->count + 1, sizeof(*list->stand_ins)));
    for (size_t i = 0; i < list->count; i++)
    {
        list->stand_ins[i].name = list->records[i].name;
        list->stand_ins[i].test_func = run_body;
        list->stand_ins[i].setup_func = before_test;
        list->stand_ins[i].teardown_func = after_test;
        list->stand_ins[i].initial_state = &list->records[i];
    }
}

/* Numbers from the environment: false when the text is none. */
static bool read_number(const char* name, uint64_t* number)
{
    const char* text = getenv(name);
    if (text == NULL || text[0] == '\0') return true;
    char* end = NULL;
    *number = strtoull(text, &end, 0);
    if (*end == '\0') return true;
    fprintf(stderr, "%s=%s is no number\n", name, text);
    return false;
}

static uint64_t draw_seed(void)
{
    uint64_t seed = 0;
    int source = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (source < 0 || read(source, &seed, sizeof(seed)) != (ssize_t)sizeof(seed)) abort();
    close(source);
    return seed;
}

static bool read_part(const char* text, options* chosen)
{
    char behind;
    if (sscanf(text, "%zu/%zu%c", &chosen->part, &chosen->parts, &behind) != 2) return false;
    return chosen->part >= 1 && chosen->part-- <= chosen->parts;
}

/* False when it makes no sense. */
static bool read_command_line(int argc, char** argv, options* chosen)
{
    for (int i = 1; i < argc; i++)
    {
        bool has_value = i + 1 < argc;
        if (argv[i][0] != '-') chosen->wanted.values[chosen->wanted.count++] = argv[i];
        else if (strcmp(argv[i], "--list") == 0) chosen->list_only = true;
        else if (strcmp(argv[i], "--times") == 0) chosen->times = true;
        else if (strcmp(argv[i], "--tls") == 0) chosen->tls = true;
        else if (strcmp(argv[i], "--cluster") == 0) chosen->store = SUITE_CLUSTER;
        else if (strcmp(argv[i], "--sentinel") == 0) chosen->store = SUITE_SENTINEL;
        else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) chosen->help = true;
        else if (strcmp(argv[i], "--redis") == 0 && has_value) chosen->redis_address = argv[++i];
        else if (strncmp(argv[i], "--redis=", 8) == 0) chosen->redis_address = argv[i] + 8;
        else if (strcmp(argv[i], "--part") == 0 && has_value && read_part(argv[i + 1], chosen)) i++;
        else if (strcmp(argv[i], "--skip") == 0 && has_value)
            chosen->skipped.values[chosen->skipped.count++] = argv[++i];
        else if (strncmp(argv[i], "--skip=", 7) == 0) chosen->skipped.values[chosen->skipped.count++] = argv[i] + 7;
        else return false;
    }
    return true;
}

static int longest_first(const void* left, const void* right)
{
    const test_record* a = left;
    const test_record* b = right;
    return (a->took_us < b->took_us) - (a->took_us > b->took_us);
}

/* The list is of no more use afterwards: cmocka's stand-ins point into it. */
static void print_times(test_list* list)
{
    uint64_t all_us = 0;
    for (size_t i = 0; i < list->count; i++) all_us += list->records[i].took_us;
    qsort(list->records, list->count, sizeof(*list->records), longest_first);
    printf("%8.2f s  all\n", (double)all_us / 1e6);
    for (size_t i = 0; i < list->count && i < SLOWEST; i++)
        printf("%8.2f s  %s\n", (double)list->records[i].took_us / 1e6, list->records[i].name);
}

static int run(test_list* list, bool times)
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
    cleanup_end();
    scratch_close();
    if (times) print_times(list);
    if (skipped > 0) printf("%zu skipped\n", skipped);
    if (left_out > 0) printf("%zu left out, with the reasons of tests/support/scene/apart.c\n", left_out);
    if (suite_tls()) secure_print();
    if (suite_store() != SUITE_ONE_SERVER) fronted_print();
    fflush(stderr);
    printf("%zu passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}

static int list_or_run(test_list* list, const options* chosen)
{
    uint64_t seed = draw_seed();
    uint64_t seconds = HANG_SECONDS * suite_patience();
    if (!read_number("GUILDHALL_SEED", &seed) || !read_number("GUILDHALL_HANG_SECONDS", &seconds)) return 2;
    hang_seconds = (unsigned)seconds;
    if (chosen->tls && !secure_is_there())
    {
        fprintf(stderr, "--tls: built without mbedTLS\n");
        return 2;
    }
    if (list->count == 0)
    {
        fprintf(stderr, "no test has a name like that\n");
        return 2;
    }
    if (chosen->list_only)
    {
        for (size_t i = 0; i < list->count; i++) printf("%s\n", list->records[i].name);
        return 0;
    }
    suite_configure(seed, chosen->redis_address, chosen->tls, chosen->store);
    printf("seed 0x%016llx\n", (unsigned long long)seed);
    return run(list, chosen->times);
}

int main(int argc, char** argv)
{
    options chosen = {.parts = 1, .store = SUITE_ONE_SERVER};
    chosen.wanted.values = must_have(calloc((size_t)argc + 1, sizeof(char*)));
    chosen.skipped.values = must_have(calloc((size_t)argc + 1, sizeof(char*)));
    bool sensible = read_command_line(argc, argv, &chosen) &&
                    chosen.tls + (chosen.store != SUITE_ONE_SERVER) + (chosen.redis_address != NULL) <= 1;
    int result = sensible ? 0 : 2;
    if (!sensible || chosen.help) fputs(usage, sensible ? stdout : stderr);
    else
    {
        test_list list = {NULL, NULL, 0};
#define ADD_FILE(file) add_file(&list, #file, test_##file, test_##file##_count, &chosen);
        TEST_FILES(ADD_FILE)
#undef ADD_FILE
        setvbuf(stdout, NULL, _IOLBF, 0); /* so that lines of stdout and stderr keep their order in a pipe */
        result = list_or_run(&list, &chosen);
        free(list.records);
        free(list.stand_ins);
    }
    free(chosen.wanted.values);
    free(chosen.skipped.values);
    return result;
}
