/* storm.c -- the program: options, the run from its first process to the verdict. See storm.h. */

#define _GNU_SOURCE /* realpath */

#include "storm/storm.h"

#include "storm/board.h"
#include "storm/builds.h"
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

storm_options storm;

static volatile sig_atomic_t interrupted;

enum
{
    RECORDS_A_SECOND = 100000,
    RECORDS_BESIDE = 2000000,
    RECORDS_MAX = 24000000,
    QUIET_CAP_US = 40000000,
    FAILOVER_CAP_S = 20
};

/* ---- systems and marks --------------------------------------------------------------------------------- */

#define STORM_SYSTEM_ROW(name) &storm_##name,
static const storm_system* const systems[STORM_SYSTEMS_MAX] = {NULL, STORM_SYSTEMS(STORM_SYSTEM_ROW)};
#undef STORM_SYSTEM_ROW

const storm_system* storm_system_of(uint8_t number)
{
    return number < STORM_SYSTEM_END ? systems[number] : NULL;
}

bool storm_system_is_on(uint8_t number)
{
    return storm.on[number];
}

const char* storm_mark_name(uint8_t what)
{
    static const char* const names[] = {"?", "link", "stall", "loss", "clock", "killed", "calm", "assertion", "build"};
    return what < MARK_FAULT ? names[what] : nemesis_kind_name((unsigned)what - MARK_FAULT);
}

storm_outcome storm_outcome_of(gh_status status)
{
    if (status == GH_OK || status == GH_HELD || status == GH_EMPTY) return STORM_DONE;
    if (status == GH_UNKNOWN || status == GH_CORRUPT) return STORM_UNKNOWN;
    return STORM_NOT_DONE;
}

random_stream storm_random(const char* label, uint64_t x, uint64_t y, uint64_t z)
{
    uint64_t hash = storm.seed ^ UINT64_C(0xcbf29ce484222325);
    for (; *label != '\0'; label++) hash = (hash ^ (unsigned char)*label) * UINT64_C(0x100000001b3);
    random_stream mixer = random_from_seed(hash ^ (x * UINT64_C(0x9e3779b97f4a7c15)));
    mixer.state ^= random_next(&mixer) + y;
    mixer.state ^= random_next(&mixer) + z;
    return random_from_seed(random_next(&mixer));
}

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

static void choose_systems(const char* names)
{
    for (const char* at = names; *at != '\0';)
    {
        size_t size = strcspn(at, ",");
        uint8_t found = 0;
        for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
        {
            if (strlen(systems[i]->name) == size && strncmp(systems[i]->name, at, size) == 0) found = i;
        }
        if (found == 0) complain("there is no such system: ", at);
        storm.on[found] = true;
        at += size + (at[size] == ',' ? 1 : 0);
    }
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
    if (storm.failovers != 0 && storm.store < STORM_CLUSTER) complain("--failovers wants --cluster or --sentinel", "");
    for (uint8_t i = 1; names == NULL && i < STORM_SYSTEM_END; i++) storm.on[i] = true;
    if (names != NULL) choose_systems(names);
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

static void print_ops(void)
{
    static unsigned long long counts[STORM_SYSTEMS_MAX][4];
    unsigned long long sum = 0;
    for (uint32_t i = 1; i <= history_count(); i++)
    {
        const storm_record* r = history_at(i);
        if (r->is_event || r->system == STORM_CORE || r->begin_us == 0) continue;
        counts[r->system][r->outcome & 3u]++;
        sum++;
    }
    printf("ops: %llu, %llu a second\n", sum, sum / storm.seconds);
    for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
    {
        if (!storm.on[i]) continue;
        printf("  %-10s %8llu: %llu done, %llu not done, %llu unknown, %llu cut off by a kill\n", systems[i]->name,
               counts[i][0] + counts[i][1] + counts[i][2] + counts[i][3], counts[i][STORM_DONE],
               counts[i][STORM_NOT_DONE], counts[i][STORM_UNKNOWN], counts[i][STORM_OPEN]);
    }
}

static bool is_of_the_living(const storm_record* op)
{
    return !excuse_process_away(op->who.process, op->begin_us, UINT64_MAX, UINT64_MAX);
}

/* What holds for every system. */
static void check_core(bool all_ended)
{
    verdict_begin("every op ends");
    if (!all_ended) VIOLATION("the players did not come to an end within %d s", QUIET_CAP_US / 1000000);
    for (uint32_t i = 1; i <= history_count(); i++)
    {
        const storm_record* r = history_at(i);
        if (r->is_event || r->system == STORM_CORE || r->begin_us == 0) continue;
        verdict_cases(1);
        if (r->end_us == 0 && is_of_the_living(r)) VIOLATION_1(i, "%s", "this op never ended");
    }
    verdict_begin("no process dies by itself");
    verdict_cases(storm.players);
    if (players_crashed() != 0) VIOLATION("%u died", players_crashed());
    if (storm.failovers != 0) verdict_begin("as many masters were replaced as were to be");
    if (storm.failovers != 0) verdict_cases(storm.failovers);
    if (storm.failovers > nemesis_failovers()) VIOLATION("only %u were", nemesis_failovers());
    verdict_begin("no assertion fails");
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_CORE)) != NULL;)
    {
        if (r->what == MARK_ASSERTION) VIOLATION_1(at, "%s", "an assertion");
    }
    verdict_begin("nothing is CORRUPT");
    for (uint32_t i = 1; i <= history_count(); i++)
    {
        const storm_record* r = history_at(i);
        if (r->is_event || r->system == STORM_CORE || r->end_us == 0) continue;
        verdict_cases(1);
        if (r->status == GH_CORRUPT) VIOLATION_1(i, "%s", "nobody but Guildhall writes here");
    }
}

static void write_history(void)
{
    FILE* file = storm.history == NULL ? NULL : fopen(storm.history, "w");
    if (storm.history != NULL && file == NULL) perror(storm.history);
    if (file == NULL) return;
    for (uint32_t i = 1; i <= history_count(); i++) fprintf(file, "%s\n", history_line(i));
    (void)fclose(file);
}

/* Who does not know all that was seen takes what he does not know for lost. */
static bool all_is_known(void)
{
    verdict_begin("all that happened is written down");
    verdict_cases(history_count());
    if (history_has_overflowed())
        VIOLATION("there was no room for more: nothing is judged, %s", "fewer seconds are better");
    return !history_has_overflowed();
}

static unsigned judge(bool all_ended)
{
    if (!all_is_known()) return verdict_end();
    excuse_prepare();
    check_core(all_ended);
    builds_check();
    for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
    {
        if (storm.on[i]) systems[i]->check();
    }
    return verdict_end();
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
    print_ops();
    builds_print();
    nemesis_print();
    write_history();
    return judge(all_ended) == 0 ? 0 : 1;
}
