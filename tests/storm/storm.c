/* storm.c -- the program: options, the run from its first process to the verdict. See storm.h. */

#define _GNU_SOURCE /* realpath */

#include "storm/storm.h"

#include "storm/board.h"
#include "storm/builds.h"
#include "storm/judge.h"
#include "storm/look.h"
#include "storm/nemesis.h"
#include "storm/players.h"
#include "storm/store.h"
#include "storm/verdict.h"
#include "support/cleanup.h"
#include "support/process.h"
#include "support/scratch.h"
#include "support/suite.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

enum
{
    RECORDS_A_SECOND = 100000,
    RECORDS_BESIDE = 2000000,
    RECORDS_MAX = 24000000,
    QUIET_CAP_US = 40000000,
    FAILOVER_CAP_S = 20
};

storm_stage storm_stage_now(void)
{
    return (storm_stage)atomic_load_explicit(&board->stage, memory_order_relaxed);
}

void storm_set_stage(storm_stage now)
{
    atomic_store(&board->stage, (int)now);
}

/* ---- options ------------------------------------------------------------------------------------------- */

static void complain(const char* text, const char* what)
{
    fprintf(stderr, "storm: %s%s\n", text, what);
    exit(2);
}

/* The server program of --redis comes first in the PATH, under the name that is looked for there. */
static void put_in_path(const char* program)
{
    char folder[SCRATCH_PATH_SIZE], link[SCRATCH_PATH_SIZE + 16], real[4096];
    if (access(program, X_OK) != 0 || realpath(program, real) == NULL) complain("cannot run ", program);
    scratch_folder(folder);
    (void)snprintf(link, sizeof link, "%s/redis-server", folder);
    const char* before = getenv("PATH");
    size_t size = strlen(folder) + (before == NULL ? 0 : strlen(before)) + 2;
    char* path = malloc(size);
    if (path == NULL || symlink(real, link) != 0) complain("cannot link to ", program);
    (void)snprintf(path, size, "%s:%s", folder, before == NULL ? "" : before);
    (void)setenv("PATH", path, 1);
    free(path);
}

static const char* value_of(int count, char** words, int* at)
{
    if (*at + 1 >= count) complain("a value is missing behind ", words[*at]);
    return words[++*at];
}

static void read_options(int count, char** words)
{
    const char* names = NULL;
    bool seeded = false;
    storm.seconds = 30;
    storm.players = 3;
    storm.store = STORM_ONE;
    for (int i = 1; i < count; i++)
    {
        if (strcmp(words[i], "--seed") == 0)
        {
            storm.seed = strtoull(value_of(count, words, &i), NULL, 0);
            seeded = true;
        }
        else if (strcmp(words[i], "--seconds") == 0) storm.seconds = (unsigned)atoi(value_of(count, words, &i));
        else if (strcmp(words[i], "--systems") == 0) names = value_of(count, words, &i);
        else if (strcmp(words[i], "--redis") == 0) storm.redis = value_of(count, words, &i);
        else if (strcmp(words[i], "--faults") == 0) storm.faults = value_of(count, words, &i);
        else if (strcmp(words[i], "--other") == 0) storm.other = value_of(count, words, &i);
        else if (strcmp(words[i], "--history") == 0) storm.history = value_of(count, words, &i);
        else if (strcmp(words[i], "--failover") == 0) storm.store = STORM_PAIR;
        else if (strcmp(words[i], "--cluster") == 0) storm.store = STORM_CLUSTER;
        else if (strcmp(words[i], "--sentinel") == 0) storm.store = STORM_SENTINEL;
        else if (strcmp(words[i], "--failovers") == 0) storm.failovers = (unsigned)atoi(value_of(count, words, &i));
        else if (strcmp(words[i], "--verbose") == 0) storm.verbose = true;
        else complain("does not know ", words[i]);
    }
    if (storm.failovers != 0) storm.seconds = storm.failovers * FAILOVER_CAP_S;
    if (storm.seconds < 1 || storm.seconds > 3600) complain("--seconds is 1..3600", "");
    if (storm.faults != NULL && !nemesis_knows(storm.faults)) complain("there is no such fault in ", storm.faults);
    if (storm.faults != NULL && nemesis_is_ancient(storm.faults)) complain("only the simulator has ", "ancient");
    if (storm.failovers != 0 && storm.store < STORM_CLUSTER) complain("--failovers wants --cluster or --sentinel", "");
    for (uint8_t i = 1; names == NULL && i < STORM_SYSTEM_END; i++) storm.on[i] = true;
    const char* unknown = names == NULL ? NULL : storm_choose_systems(names);
    if (unknown != NULL) complain("there is no such system: ", unknown);
    if (!seeded)
    {
        random_stream mixer = random_from_seed(history_now() ^ ((uint64_t)getpid() << 32) ^ (uint64_t)time(NULL));
        storm.seed = random_next(&mixer) % 1000000000u;
    }
    /* One in three goes without losses: there nothing at all is excused. */
    storm.losses = storm.store == STORM_PAIR || storm.failovers != 0 || storm.seed % 3 != 0;
}

/* ---- the run ------------------------------------------------------------------------------------------- */

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static void listen_to_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = interrupt;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

static void weather(void)
{
    uint64_t now_us = history_now();
    uint64_t start_us = now_us, end_us = now_us + (uint64_t)storm.seconds * 1000000u;
    nemesis_start(now_us);
    while (!interrupted && now_us < end_us && !nemesis_has_finished() && !history_is_full())
    {
        uint64_t next_us = nemesis_turn(now_us);
        players_look();
        builds_look();
        now_us = history_now();
        if (next_us > now_us + 20000) next_us = now_us + 20000;
        if (next_us > now_us) history_pause(next_us - now_us);
        now_us = history_now();
    }
    if (now_us < end_us) storm.seconds = 1 + (unsigned)((now_us - start_us) / 1000000u);
    if (history_is_full()) printf("storm: so much has happened that the weather ends after %u s\n", storm.seconds);
}

static void leave_if_interrupted(void)
{
    if (!interrupted) return;
    fprintf(stderr, "storm: interrupted\n");
    cleanup_end();
    scratch_close();
    exit(130);
}

static void prepare(void)
{
    size_t capacity = (size_t)storm.seconds * RECORDS_A_SECOND + RECORDS_BESIDE;
    history_open((uint32_t)(capacity > RECORDS_MAX ? RECORDS_MAX : capacity));
    board_open();
    suite_configure(storm.seed, NULL, false, SUITE_ONE_SERVER);
    suite_enter("storm");
    if (storm.redis != NULL) put_in_path(storm.redis);
    listen_to_signals();
}

static const char* of_the_store(void)
{
    switch (storm.store)
    {
    case STORM_PAIR: return ", with failover";
    case STORM_CLUSTER: return ", on a Cluster";
    case STORM_SENTINEL: return ", behind Sentinels";
    case STORM_ONE:
    default: return "";
    }
}

/* What another build of this program asks: what it is, and to play. */
static bool is_asked_by_another(int count, char** words)
{
    return count > 1 && (strcmp(words[1], "--about") == 0 || strcmp(words[1], "--player") == 0);
}

static int answer_another(int count, char** words)
{
    if (strcmp(words[1], "--player") == 0) return builds_play(count, words);
    builds_say();
    return 0;
}

int main(int count, char** words)
{
    if (is_asked_by_another(count, words)) return answer_another(count, words);
    read_options(count, words);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    printf("storm: seed %llu, %u s%s%s\n", (unsigned long long)storm.seed, storm.seconds,
           storm.losses ? ", with losses" : ", without losses", of_the_store());
    if (storm.other != NULL) builds_meet(storm.other);
    prepare();
    store_start();
    board_fill();
    (void)child_start(witness_run, NULL);
    players_start();
    weather();
    leave_if_interrupted();
    nemesis_heal();
    storm_set_stage(STAGE_CALM);
    bool all_ended = players_wait(QUIET_CAP_US);
    leave_if_interrupted();
    storm_set_stage(STAGE_STOP);
    audit_run();
    leave_if_interrupted();
    cleanup_end();
    scratch_close();
    printf("storm: seed %llu, %u s\n", (unsigned long long)storm.seed, storm.seconds);
    judge_print_ops();
    builds_print();
    nemesis_print();
    judge_write_history();
    storm_end end = {all_ended, QUIET_CAP_US / 1000000, players_crashed(), nemesis_failovers()};
    if (judge_all(&end)) builds_check();
    return verdict_end() == 0 ? 0 : 1;
}
