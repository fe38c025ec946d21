/* The small samples, run as programs against a private server: they stand beside this binary. What they
   promise is their exit code and what they print. */

#include "support/page.h"
#include "support/program.h"
#include "support/redis_server.h"
#include "support/scratch.h"
#include "support/source_tree.h"
#include "support/suite.h"
#include "support/wait.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define LINES_MAX 60

/* Its exit status; all that it printed is in output. */
static int run_sample(program* p)
{
    program_start(p);
    int status = program_end(p);
    child_end(p->child);
    return status;
}

/* ---- all of them --------------------------------------------------------------------------------------- */

typedef struct sample_row
{
    const char* name;
    const char* says[2]; /* and that is in its output */
} sample_row;

static const sample_row rows[] = {
    {"quickstart", {"got the lock, fence ", "gave it back\n"}},
    {"lock_set", {"sword 7 is ours, fence ", "traded\n"}},
    {"semaphore", {"is number 1 in line\n", "player 4 has a seat\n"}},
    {"tasks", {"your sword was sold", "see you"}},
    {"mailbox", {"market: your sword was sold\n", "0 left\n"}},
    {"chat", {"jason: ready?\n", "jeff: one minute\n"}},
    {"contacts", {"m... Mia\n", "m... mike\n"}},
    {"guild", {"je... jeff, player 1002\n", "je... JEREMY, player 1003\n"}},
    {"counters", {"9 kills in 10 seconds", "at most "}},
    {"rows", {"10 of swords\n", "8 of swords\n"}},
    {"files", {"no potions\n", "last one standing wins\n"}},
    {"geo", {"173.194.38.137: Mountain View, California, US\n", "9.9.9.9: "}},
    {"aggregate", {"DE: 1\n", "DE"}},
};

/* geo needs no server, but a table. */
static void give_arguments(program* p, const char* name, const char* address)
{
    static char path[SCRATCH_PATH_SIZE + 16];
    program_find(p, name);
    program_argument(p, address);
    if (strcmp(name, "geo") != 0) return;
    char folder[SCRATCH_PATH_SIZE];
    scratch_folder(folder);
    snprintf(path, sizeof(path), "%s/ranges.csv", folder);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("173.194.0.0,173.194.255.255,US,California,Mountain View", file) >= 0);
    assert_int_equal(fclose(file), 0);
    p->arguments[1] = path;
    program_argument(p, "173.194.38.137");
    program_argument(p, "9.9.9.9");
}

static const sample_row* row_of(const char* name, size_t size)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strlen(rows[i].name) == size && memcmp(rows[i].name, name, size) == 0) return &rows[i];
    fail_msg("samples/%s: this test does not know what it prints", name);
    return NULL;
}

/* Who reads a sample wants to see the whole of it. */
static void expect_short(const char* file)
{
    char relative[300];
    char path[SOURCE_TREE_PATH_SIZE];
    unsigned lines = 0;
    snprintf(relative, sizeof(relative), "samples/%s", file);
    assert_true(source_tree_path(path, relative));
    char* text = page_read_file(path);
    for (const char* at = text; (at = strchr(at, '\n')) != NULL; at++) lines++;
    free(text);
    if (lines > LINES_MAX) fail_msg("%s has %u lines, more than %d", relative, lines, LINES_MAX);
}

static program run; /* too large for the stack */

/* Each .c file of the folder, so that a new one cannot be forgotten. Twice on the same server: what the first
   run has left must not stop the second. */
static void each_runs_to_its_end_and_says_so(void** state)
{
    (void)state;
    char folder[SOURCE_TREE_PATH_SIZE];
    assert_true(source_tree_path(folder, "samples"));
    DIR* samples = opendir(folder);
    assert_non_null(samples);
    size_t count = 0;
    for (struct dirent* entry; (entry = readdir(samples)) != NULL;)
    {
        size_t size = strlen(entry->d_name);
        if (size < 3 || strcmp(entry->d_name + size - 2, ".c") != 0) continue;
        const sample_row* row = row_of(entry->d_name, size - 2);
        redis_server* store = redis_server_start(NULL);
        count++;
        expect_short(entry->d_name);
        for (int again = 0; again < 2; again++)
        {
            give_arguments(&run, row->name, redis_server_address(store));
            int status = run_sample(&run);
            if (status != 0) fail_msg("%s, run %d, ended with %d:\n%s", row->name, again, status, run.output);
            for (size_t i = 0; i < 2 && again == 0; i++)
                if (strstr(run.output, row->says[i]) == NULL)
                    fail_msg("%s did not print '%s':\n%s", row->name, row->says[i], run.output);
        }
        redis_server_end(store);
    }
    closedir(samples);
    assert_int_equal(count, sizeof(rows) / sizeof(rows[0]));
}

static void each_says_what_is_wrong(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        program_find(&run, rows[i].name);
        program_argument(&run, "nowhere");
        assert_int_equal(run_sample(&run), 1);
    }
}

static void quickstart_gives_the_lock_back(void** state)
{
    (void)state;
    redis_server* store = redis_server_start(NULL);
    give_arguments(&run, "quickstart", redis_server_address(store));
    assert_int_equal(run_sample(&run), 0);
    assert_non_null(strstr(redis_server_text(store, "GET gh:{lock:castle%%20gate}:s"), " f "));
    program_find(&run, "quickstart");
    program_argument(&run, "nowhere");
    assert_int_equal(run_sample(&run), 1);
    assert_non_null(strstr(run.output, "no lock: the address is not"));
}

/* What samples/run.sh says, and its exit code, when it is given what ends it before it builds anything. */
static int ask_script(const char* arguments, char* said, size_t said_size)
{
    char script[SOURCE_TREE_PATH_SIZE];
    char command[SOURCE_TREE_PATH_SIZE + 64];
    assert_true(source_tree_path(script, "samples/run.sh"));
    snprintf(command, sizeof command, "bash '%s' %s 2>&1", script, arguments);
    FILE* out = popen(command, "r");
    assert_non_null(out);
    said[fread(said, 1, said_size - 1, out)] = '\0';
    int status = pclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void script_says_what_it_takes_and_which_samples_there_are(void** state)
{
    (void)state;
    static const char* const no_samples[] = {"engine_drop_in", "pictures", "quickstart.c", "''"};
    char said[4096];
    assert_int_equal(ask_script("--help", said, sizeof said), 0);
    assert_non_null(strstr(said, "--sample NAME"));
    assert_non_null(strstr(said, "game_server --help"));
    assert_null(strstr(said, "build: "));
    for (size_t i = 0; i < sizeof no_samples / sizeof no_samples[0]; i++)
    {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "--sample %s", no_samples[i]);
        assert_int_equal(ask_script(arguments, said, sizeof said), 1);
        assert_non_null(strstr(said, "there are: game_server "));
        for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) assert_non_null(strstr(said, rows[k].name));
    }
}

TEST_FILE(samples, cmocka_unit_test(each_runs_to_its_end_and_says_so),
          cmocka_unit_test(each_says_what_is_wrong), cmocka_unit_test(quickstart_gives_the_lock_back),
          cmocka_unit_test(script_says_what_it_takes_and_which_samples_there_are));
