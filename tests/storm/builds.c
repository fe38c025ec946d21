/* builds.c -- another build of this program: asked what it is, and made a player. */

#include "storm/builds.h"

#include "client/script_text.h"
#include "storm/board.h"
#include "storm/store.h"
#include "storm/storm.h"
#include "storm/verdict.h"
#include "support/sha1.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum
{
    DIGEST_SIZE = 41,
    LINE_SIZE = 512,
    COMMAND_SIZE = 4200,
    LOOK_US = 200000,
    ANSWER_US = 400000,
    LIVES_MAX = 1 << 16
};

#define SCRIPT_NAME(name) #name,
static const char* const script_names[] = {GH_SCRIPT_LIST(SCRIPT_NAME)};
#undef SCRIPT_NAME
#define SCRIPT_TEXT(name) &gh_##name##_lua,
static const gh_script_text* const script_texts[] = {GH_SCRIPT_LIST(SCRIPT_TEXT)};
#undef SCRIPT_TEXT

typedef struct build
{
    char records[LINE_SIZE];
    char version[LINE_SIZE];
    char digests[GH_SCRIPT_COUNT][DIGEST_SIZE];
} build;

static struct
{
    build own;
    build other;
    uint64_t looked_us;
    unsigned looks;
    unsigned most; /* scripts of both at once */
} builds;

/* ---- what a build is ----------------------------------------------------------------------------------- */

/* Programs that agree in this write the same records. */
static void describe_records(char line[LINE_SIZE])
{
    int size = snprintf(line, LINE_SIZE, "records of %zu bytes, %zu, %zu; systems", sizeof(storm_record),
                        sizeof(storm_board), (size_t)MARK_FAULT);
    for (uint8_t i = 1; i < STORM_SYSTEM_END && size < LINE_SIZE; i++)
        size += snprintf(line + size, LINE_SIZE - (size_t)size, " %s", storm_system_of(i)->name);
}

static void digest_script(const gh_script_text* text, char digest[DIGEST_SIZE])
{
    char* out = malloc((size_t)text->size + 1);
    if (out == NULL) abort();
    char* end = gh_script_unpack(text, out);
    sha1_hex(out, (size_t)(end - out), digest);
    free(out);
}

static void describe(build* b)
{
    describe_records(b->records);
    (void)snprintf(b->version, LINE_SIZE, "%u.%u.%u", gh_version() / 10000u, gh_version() / 100u % 100u,
                   gh_version() % 100u);
    for (unsigned i = 0; i < GH_SCRIPT_COUNT; i++) digest_script(script_texts[i], b->digests[i]);
}

void builds_say(void)
{
    describe(&builds.own);
    printf("%s\n%s\n", builds.own.records, builds.own.version);
    for (unsigned i = 0; i < GH_SCRIPT_COUNT; i++) printf("%s %s\n", builds.own.digests[i], script_names[i]);
}

/* ---- the other one ------------------------------------------------------------------------------------- */

static void refuse(const char* why, const char* what)
{
    fprintf(stderr, "storm: --other: %s%s\n", why, what);
    exit(2);
}

static void read_line(FILE* from, char line[LINE_SIZE])
{
    if (fgets(line, LINE_SIZE, from) == NULL) line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

static void read_scripts(FILE* from, build* b)
{
    char line[LINE_SIZE];
    for (read_line(from, line); line[0] != '\0'; read_line(from, line))
    {
        for (unsigned i = 0; i < GH_SCRIPT_COUNT; i++)
        {
            if (strlen(line) > DIGEST_SIZE && strcmp(line + DIGEST_SIZE, script_names[i]) == 0)
                (void)snprintf(b->digests[i], DIGEST_SIZE, "%.40s", line);
        }
    }
}

void builds_meet(const char* other)
{
    char command[COMMAND_SIZE];
    describe(&builds.own);
    if (access(other, X_OK) != 0 || strchr(other, '\'') != NULL) refuse("cannot run ", other);
    (void)snprintf(command, sizeof command, "'%s' --about", other);
    FILE* from = popen(command, "r");
    if (from == NULL) refuse("cannot ask ", other);
    read_line(from, builds.other.records);
    read_line(from, builds.other.version);
    read_scripts(from, &builds.other);
    if (pclose(from) != 0) refuse("says nothing of itself: ", other);
    if (strcmp(builds.own.records, builds.other.records) != 0) refuse("is of another storm: ", builds.other.records);
    if (strcmp(builds.own.version, builds.other.version) == 0) refuse("is of this version, too: ", builds.own.version);
    for (unsigned i = 0; i < GH_SCRIPT_COUNT; i++)
    {
        if (strcmp(builds.own.digests[i], builds.other.digests[i]) == 0) refuse("sends the same ", script_names[i]);
    }
    printf("storm: a part of the players is Guildhall %s, the others are %s\n", builds.other.version,
           builds.own.version);
}

int builds_run_other(void* context, int results)
{
    const storm_who* who = context;
    char numbers[4][16];
    int descriptors[] = {board_descriptor(), history_descriptor()};
    (void)results;
    for (int i = 0; i < 2; i++) (void)fcntl(descriptors[i], F_SETFD, 0);
    for (int i = 0; i < 2; i++) (void)snprintf(numbers[i], sizeof numbers[i], "%d", descriptors[i]);
    (void)snprintf(numbers[2], sizeof numbers[2], "%u", who->process);
    (void)snprintf(numbers[3], sizeof numbers[3], "%u", who->life);
    execl(storm.other, storm.other, "--player", numbers[0], numbers[1], numbers[2], numbers[3], (char*)NULL);
    perror(storm.other);
    return 99;
}

int builds_play(int count, char** words)
{
    if (count != 6 || !board_join(atoi(words[2])) || !history_join(atoi(words[3])))
    {
        fprintf(stderr, "storm: --player is for the first process of a storm\n");
        return 2;
    }
    storm_who who = {.process = (uint8_t)atoi(words[4]), .life = (uint16_t)atoi(words[5])};
    return player_run(&who, -1);
}

/* ---- both at work -------------------------------------------------------------------------------------- */

/* SCRIPT EXISTS and the digests of one build; a bit of `there` for each that is there. */
static bool ask_for_scripts(redisContext* context, const build* b, bool there[GH_SCRIPT_COUNT])
{
    const char* words[GH_SCRIPT_COUNT + 2] = {"SCRIPT", "EXISTS"};
    for (unsigned i = 0; i < GH_SCRIPT_COUNT; i++) words[i + 2] = b->digests[i];
    redisReply* reply = redisCommandArgv(context, GH_SCRIPT_COUNT + 2, words, NULL);
    bool good = reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == GH_SCRIPT_COUNT;
    for (unsigned i = 0; good && i < GH_SCRIPT_COUNT; i++) there[i] = reply->element[i]->integer == 1;
    if (reply != NULL) freeReplyObject(reply);
    return good;
}

void builds_look(void)
{
    bool own[GH_SCRIPT_COUNT], other[GH_SCRIPT_COUNT];
    if (storm.other == NULL || history_now() < builds.looked_us + LOOK_US) return;
    builds.looked_us = history_now();
    redisContext* context = store_connect(ANSWER_US);
    if (context == NULL) return;
    if (ask_for_scripts(context, &builds.own, own) && ask_for_scripts(context, &builds.other, other))
    {
        unsigned both = 0;
        for (unsigned i = 0; i < GH_SCRIPT_COUNT; i++) both += own[i] && other[i] ? 1u : 0u;
        if (both > builds.most) builds.most = both;
        builds.looks++;
    }
    redisFree(context);
}

/* ---- after the run ------------------------------------------------------------------------------------- */

/* Ops that were done by players of that version. Each says which it is when a life of his begins. */
static uint64_t ops_of(bool own)
{
    static uint8_t is_own[STORM_PLAYERS_MAX][LIVES_MAX];
    uint64_t sum = 0;
    for (uint32_t i = 1; i <= history_count(); i++)
    {
        const storm_record* r = history_at(i);
        if (r->begin_us == 0 || r->who.process >= STORM_PLAYERS_MAX) continue;
        uint8_t* known = &is_own[r->who.process][r->who.life];
        if (r->system == STORM_CORE && r->what == MARK_BUILD) *known = r->a == gh_version() ? 1 : 2;
        if (r->system != STORM_CORE && !r->is_event && r->outcome == STORM_DONE && *known == (own ? 1 : 2)) sum++;
    }
    return sum;
}

void builds_print(void)
{
    if (storm.other == NULL) return;
    printf("builds: %llu ops were done by %s, %llu by %s; %u of %u scripts were there in both at once\n",
           (unsigned long long)ops_of(true), builds.own.version, (unsigned long long)ops_of(false),
           builds.other.version, builds.most, (unsigned)GH_SCRIPT_COUNT);
}

void builds_check(void)
{
    if (storm.other == NULL) return;
    uint64_t own = ops_of(true), other = ops_of(false);
    verdict_begin("builds: both are at work");
    verdict_cases(own + other);
    if (own <= other / 100 || other <= own / 100) VIOLATION("%s", "one has done next to nothing");
    verdict_begin("builds: the scripts of both lie beside each other");
    verdict_cases(builds.looks);
    if (builds.most == 0) VIOLATION("no script was there in both, in %u looks", builds.looks);
}
