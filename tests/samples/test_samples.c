/* The small samples, run as programs against a private server: they stand beside this binary. What they
   promise is their exit code and what they print. */

#include "support/scene/page.h"
#include "support/scene/program.h"
#include "support/server/redis_server.h"
#include "support/scratch.h"
#include "support/source_tree.h"
#include "support/suite.h"
#include "support/wait.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define LINES_MAX 125

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
    const char* says[5];  /* and that is in its output, in this order */
    const char* never[2]; /* and that is not */
} sample_row;

static const sample_row rows[] = {
    {"quickstart", {"got the lock, fence ", "gave it back\n"}, {NULL}},
    {"lock_set", {"sword 7 is ours, fence ", "traded\n"}, {NULL}},
    {"semaphore", {"is number 1 in line\n", "player 4 has a seat\n"}, {NULL}},
    {"lock",
     {"server 1: the sword is ours, fence ", "server 2: server 1 has had it for ", "server 2: the write: done\n",
      "server 1: the lock: a lease ran out", "server 1: the write: the lock's fence is not current"},
     {"server 1: the write: done"}},
    {"tasks",
     {"class 0: your sword was sold\n", "class 3: we have new shields\n", "no handler of the name telegram\n",
      "dead: a shield: nobody opens\n"},
     {"dead: see you"}},
    {"mailbox", {"market: your sword was sold\n", "0 left\n"}, {NULL}},
    {"chat",
     {"jeff has 2 unread\n", "to jeff: jeff: one minute\n", "jeff has 0 unread\n", "jeff has left, 1 stays\n",
      "to jason: jason: alone again\n"},
     {"to jeff: jason: nobody here yet\n", "to jeff: jason: alone again\n"}},
    {"contacts", {"m... mike\n", "m... Mia\n"}, {NULL}},
    {"guild", {"je... jeff, player 1002\n", "je... JEREMY, player 1003\n"}, {NULL}},
    {"counters", {"9 kills in 10 seconds", "at most "}, {NULL}},
    {"rows", {"10 of swords\n", "8 of swords\n"}, {NULL}},
    {"files", {"jenny has a picture of jason: P6 120 80 255, 28814 bytes\n"}, {NULL}},
    {"geo", {"192.0.2.7: Berlin, Land Berlin, DE\n", "2001:db8::1: Brest, Brittany, FR\n", "nothing there\n"}, {NULL}},
    {"aggregate", {"4 from DE\n", "3 from DE, Bavaria\n", "2 from DE, Bavaria, Munich\n"}, {NULL}},
};

/* geo needs no server, and has a table of its own. */
static void give_arguments(program* p, const char* name, const char* address)
{
    program_find(p, name);
    if (strcmp(name, "geo") != 0) program_argument(p, address);
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

static void expect_words(const sample_row* row)
{
    const char* at = run.output;
    for (size_t i = 0; i < sizeof row->says / sizeof row->says[0] && row->says[i] != NULL; i++)
    {
        at = strstr(at, row->says[i]);
        if (at == NULL) fail_msg("%s did not print '%s' there:\n%s", row->name, row->says[i], run.output);
        at += strlen(row->says[i]);
    }
    for (size_t i = 0; i < 2 && row->never[i] != NULL; i++)
        if (strstr(run.output, row->never[i]) != NULL)
            fail_msg("%s printed '%s':\n%s", row->name, row->never[i], run.output);
}

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
            if (again == 0) expect_words(row);
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

/* Its platform is its own. */
static void an_engine_runs_on_its_own_sockets(void** state)
{
    (void)state;
    redis_server* store = redis_server_start(NULL);
    give_arguments(&run, "engine_platform", redis_server_address(store));
    assert_int_equal(run_sample(&run), 0);
    assert_non_null(strstr(run.output, "start number 1, on sockets of its own\n"));
    give_arguments(&run, "engine_platform", "nowhere");
    assert_int_equal(run_sample(&run), 1);
    redis_server_end(store);
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
    assert_non_null(strstr(run.output, "no lock: an address is not"));
}

/* Gives geo a table with these columns, asks for two addresses, and returns its exit status. */
static int ask_geo(const char* rows_of_table, const char* columns)
{
    char folder[SCRATCH_PATH_SIZE];
    char path[SCRATCH_PATH_SIZE + 16];
    scratch_folder(folder);
    snprintf(path, sizeof path, "%s/ranges.csv", folder);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(rows_of_table, file) >= 0);
    assert_int_equal(fclose(file), 0);
    program_find(&run, "geo");
    program_argument(&run, path);
    program_argument(&run, columns);
    program_argument(&run, "173.194.38.137");
    program_argument(&run, "9.9.9.9");
    int status = run_sample(&run);
    scratch_remove(folder);
    return status;
}

static void geo_takes_the_columns_of_common_tables(void** state)
{
    (void)state;
    static const char* const tables[][2] = {
        {"173.194.0.0,173.194.255.255,US,California,Mountain View", "1,2,3,4,5"},
        {"\"2915172352\",\"2915237887\",\"US\",\"United States\",\"California\",\"Mountain View\"\r\n", "1,2,3,5,6"},
        {"first,last,continent,country,region,city\n"
         "173.194.0.0,173.194.255.255,NA,US,California,Mountain View,37,-122\n",
         "1,2,4,5,6"},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
    {
        assert_int_equal(ask_geo(tables[i][0], tables[i][1]), 0);
        if (strstr(run.output, "173.194.38.137: Mountain View, California, US\n9.9.9.9: nothing there\n") == NULL)
            fail_msg("table %zu: %s", i, run.output);
    }
    assert_int_equal(ask_geo("173.194.0.0,173.194.255.255,US\n", "1,2,3,0,0"), 0); /* a table of countries */
    assert_non_null(strstr(run.output, "173.194.38.137: , , US\n"));
    static const char* const wrong[] = {"", "1", "1,2,3,4", "1,2,3,4,32", "a,b,c,d,e"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(ask_geo("173.194.0.0,173.194.255.255,US\n", wrong[i]), 1);
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

TEST_FILE(samples, cmocka_unit_test(each_runs_to_its_end_and_says_so), cmocka_unit_test(each_says_what_is_wrong),
          cmocka_unit_test(an_engine_runs_on_its_own_sockets), cmocka_unit_test(quickstart_gives_the_lock_back),
          cmocka_unit_test(geo_takes_the_columns_of_common_tables),
          cmocka_unit_test(script_says_what_it_takes_and_which_samples_there_are));
