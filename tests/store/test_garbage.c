/* Whatever somebody else wrote into a key, each op ends, as CORRUPT or as its header says, in time, and costs nobody
   the link; the server is never held up. Here some plants are drawn at random; tests/garbage.sh plants them all. */

#include "support/faults/garbage.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SAMPLE          240 /* plants of a system                        */
#define CROWDS_SAMPLE   4   /* crowds of a system, and entries in each   */
#define CROWD_SMALL     30000u
#define CROWD_LARGE     300000u
#define REQUESTS_MAX    40    /* that an op may send, if its drill says no other number */
#define REQUESTS_CROWD  3000  /* the same where a crowd is let go, at least a hundred a request */
#define SLOW_TRIES      10    /* a script is slow if it is so each time ... */
#define SLOW_TRIES_MANY 60    /* of an op of many requests, some of which are interrupted in most tries ... */
#define SLOW_US         20000 /* ... or three times so slow that no load explains it */
#define SLOWLOG_MAX     64    /* as drill.c sets it */
#define INTERRUPTED     200
#define SAME_MAX        2 /* failures that are shown of one case and place */
#define NOTES_MAX       4096

typedef struct failure_note
{
    const drill_case* of;
    char place[96];
    unsigned count;
} failure_note;

typedef struct judge
{
    drill* drill;
    page_table keys;
    bool all;
    random_stream random;
    unsigned tried;
    unsigned failed;
    failure_note notes[NOTES_MAX];
    size_t notes_used;
} judge;

/* ---- one op -------------------------------------------------------------------------------------------- */

typedef struct witness
{
    gh_command command; /* of somebody else, on the same client, and not to be repeated */
    gh_client_stats before;
    char reply[64];
} witness;

static witness* call_witness(drill* self)
{
    static const gh_str words[] = {GH_STR_INIT("GET"), GH_STR_INIT("innocent")};
    witness* other = DRILL_NEW(self, witness);
    gh_command_config config = gh_command_config_default();
    config.reply_memory = other->reply;
    config.reply_size = sizeof(other->reply);
    redis_server_do(self->server, "SLOWLOG RESET");
    game_tick(self->game); /* what begins now counts from this tick, however long the planting took */
    other->before = game_stats(self->game);
    assert_status(gh_command_begin(&other->command, self->game->client, words, 2, &config), GH_OK);
    return other;
}

/* What its header names, in words for all of them: nothing that says "ask again", or that the server is at fault. The
   time of an op may be over before a crowd is passed over. */
static bool may_end_so(const drill_case* of, gh_status status, bool crowd)
{
    if (status == of->healthy || status == GH_CORRUPT) return true;
    if (status == GH_TIMEOUT) return of->times_out || crowd;
    return status != GH_PENDING && status != GH_UNKNOWN && status != GH_REFUSED && status != GH_ERROR &&
           status != GH_CLOSED && status != GH_CANCELLED && status != GH_IDLE && !gh_status_is_invalid(status);
}

static int larger_first(const void* one, const void* two)
{
    long long first = *(const long long*)one;
    long long second = *(const long long*)two;
    return (first < second) - (first > second);
}

/* Scripts of the client, not those of the test; the longest one's microseconds, or 0. Where an op sends hundreds of
   them, something else of the machine interrupts some: for each INTERRUPTED of them the longest one is left out. */
static long long slowest_script(drill* self, uint64_t requests)
{
    redisReply* log = redis_server_command(self->server, "SLOWLOG GET %d", SLOWLOG_MAX);
    long long slow_us[SLOWLOG_MAX + 1] = {0};
    size_t count = 0;
    for (size_t i = 0; i < log->elements && i < SLOWLOG_MAX; i++)
    {
        const redisReply* entry = log->element[i];
        if (entry->elements < 4 || entry->element[3]->elements < 1) continue;
        if (strcasecmp(entry->element[3]->element[0]->str, "EVALSHA") != 0) continue;
        slow_us[count++] = entry->element[2]->integer;
    }
    freeReplyObject(log);
    qsort(slow_us, count, sizeof(slow_us[0]), larger_first);
    return requests / INTERRUPTED < count ? slow_us[requests / INTERRUPTED] : 0;
}

static bool server_answers(drill* self)
{
    redisReply* reply = redis_server_command(self->server, "PING");
    bool answers = reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    return answers;
}

/* NULL: all is as it should be. Sets slow_us. */
static const char* judge_end(drill* self, const drill_case* of, gh_status status, witness* other, unsigned most,
                             long long* slow_us)
{
    static char why[160];
    gh_client_stats now = game_stats(self->game);
    uint64_t lost = now.links_lost - other->before.links_lost;
    uint64_t errors = now.protocol_errors - other->before.protocol_errors;
    uint64_t requests = now.requests - other->before.requests;
    *slow_us = 0;
    if (!server_answers(self)) return "the server hangs";
    DRILL_UNTIL(self, gh_op_poll(&other->command.op) != GH_PENDING);
    gh_status bystander = gh_op_poll(&other->command.op);
    *slow_us = slowest_script(self, requests);
    why[0] = '\0';
    if (lost > 0 || errors > 0)
        snprintf(why, sizeof(why), "%s, links lost %u, errors of protocol %u, requests %u", gh_status_name(status),
                 (unsigned)lost, (unsigned)errors, (unsigned)requests);
    else if (!may_end_so(of, status, most == REQUESTS_CROWD)) snprintf(why, sizeof(why), "%s", gh_status_name(status));
    else if (requests > (of->requests > most ? of->requests : most))
        snprintf(why, sizeof(why), "%s after %u requests", gh_status_name(status), (unsigned)requests);
    else if (bystander != GH_OK)
        snprintf(why, sizeof(why), "%s, and a bystander %s", gh_status_name(status), gh_status_name(bystander));
    return why[0] == '\0' ? NULL : why;
}

/* ---- notes --------------------------------------------------------------------------------------------- */

static failure_note* note_of(judge* self, const drill_case* of, const char* place)
{
    for (size_t i = 0; i < self->notes_used; i++)
        if (self->notes[i].of == of && strcmp(self->notes[i].place, place) == 0) return &self->notes[i];
    if (self->notes_used == NOTES_MAX) return &self->notes[0];
    failure_note* note = &self->notes[self->notes_used++];
    note->of = of;
    snprintf(note->place, sizeof(note->place), "%s", place);
    return note;
}

static void note_failure(judge* self, const drill_case* of, const char* place, const char* what, const char* why)
{
    self->failed++;
    if (note_of(self, of, place)->count++ < SAME_MAX)
        printf("    garbage: %s.%s: %s: %s\n", self->drill->system->name, of->name, what, why);
}

static bool is_known_to_fail(judge* self, const drill_case* of, const char* place)
{
    for (size_t i = 0; i < self->notes_used; i++)
        if (self->notes[i].of == of && strcmp(self->notes[i].place, place) == 0)
            return self->notes[i].count >= SAME_MAX;
    return false;
}

static void recover_from(judge* self, const char* why)
{
    if (strcmp(why, "the server hangs") == 0) drill_recover(self->drill);
}

/* ---- plants -------------------------------------------------------------------------------------------- */

/* Beside other tests, of some hundred scripts there is always one that something else of the machine interrupts; what
   hangs on the size of a crowd takes longer than that. */
static bool is_bearable(const judge* self, long long slow_us)
{
    return !self->all && slow_us <= SLOW_US;
}

/* Tokens differ from one arm to the next, so what there is to plant is listed anew where there is an arm. */
static void try_plant(judge* self, const drill_case* of, const garbage_plants* known, size_t index)
{
    char place[96];
    long long slow_us = 0;
    long long least_us = INT64_MAX;
    snprintf(place, sizeof(place), "%s", known->list[index].place);
    if (self->all && is_known_to_fail(self, of, place)) return;
    self->tried++;
    for (int i = 0; i < (of->requests > REQUESTS_MAX ? SLOW_TRIES_MANY : SLOW_TRIES); i++)
    {
        garbage_plants fresh = {NULL, 0};
        drill_restore(self->drill, of);
        if (of->arm != NULL) fresh = garbage_list(self->drill, &self->keys);
        const garbage_plant* plant = index < fresh.count ? &fresh.list[index] : &known->list[index];
        char what[192];
        snprintf(what, sizeof(what), "%s", plant->what);
        garbage_plant_it(self->drill, plant);
        garbage_free(&fresh);
        witness* other = call_witness(self->drill);
        gh_status status = drill_run(self->drill, of);
        const char* why = judge_end(self->drill, of, status, other, REQUESTS_MAX, &slow_us);
        if (why != NULL)
        {
            note_failure(self, of, place, what, why);
            recover_from(self, why);
            return;
        }
        if (slow_us == 0) return;
        least_us = slow_us < least_us ? slow_us : least_us;
        if (least_us > SLOW_US && i >= 2) break;
    }
    if (is_bearable(self, least_us)) return;
    note_failure(self, of, place, known->list[index].what, "a script takes more than 2 ms");
}

static void try_case(judge* self, const drill_case* of)
{
    size_t sample = SAMPLE / suite_patience() / self->drill->system->count + 1;
    drill_restore(self->drill, of);
    garbage_plants plants = garbage_list(self->drill, &self->keys);
    try_plant(self, of, &plants, 0); /* which is none: it works where nobody did any harm */
    if (self->all)
        for (size_t i = 1; i < plants.count; i++) try_plant(self, of, &plants, i);
    else
        for (size_t i = 0; i < sample; i++)
            try_plant(self, of, &plants, (size_t)random_below(&self->random, plants.count));
    garbage_free(&plants);
}

/* ---- crowds -------------------------------------------------------------------------------------------- */

static void try_crowd(judge* self, const drill_case* of, const page_row* row, int crowd)
{
    char key[128];
    char what[192];
    long long slow_us = 0;
    long long least_us = INT64_MAX;
    unsigned entries = self->all ? CROWD_LARGE : CROWD_SMALL;
    snprintf(key, sizeof(key), "%s", drill_key(garbage_key_of(row)));
    snprintf(what, sizeof(what), "%s has %u entries more, of kind %d", key, entries, crowd);
    self->tried++;
    for (int i = 0; i < SLOW_TRIES; i++)
    {
        drill_restore(self->drill, of);
        garbage_crowd(self->drill, key, garbage_type_of(row), crowd, entries);
        witness* other = call_witness(self->drill);
        gh_status status = drill_run(self->drill, of);
        const char* why = judge_end(self->drill, of, status, other, REQUESTS_CROWD, &slow_us);
        if (why != NULL)
        {
            note_failure(self, of, key, what, why);
            recover_from(self, why);
            return;
        }
        if (slow_us == 0) return;
        least_us = slow_us < least_us ? slow_us : least_us;
        if (least_us > SLOW_US && i >= 2) break;
    }
    if (is_bearable(self, least_us)) return;
    char why[64];
    snprintf(why, sizeof(why), "a script takes %lld us", least_us);
    note_failure(self, of, key, what, why);
}

static bool is_collection(const judge* self, const page_row* row)
{
    return drill_has_row(self->drill->system, garbage_key_of(row)) && strcmp(garbage_type_of(row), "string") != 0;
}

static void try_crowds(judge* self)
{
    const drill_system* system = self->drill->system;
    size_t rows = 0;
    for (size_t i = 0; i < self->keys.count; i++) rows += is_collection(self, &self->keys.rows[i]);
    uint64_t all = (uint64_t)rows * system->count * GARBAGE_CROWDS;
    for (size_t i = 0; i < self->keys.count; i++)
    {
        if (!is_collection(self, &self->keys.rows[i])) continue;
        for (size_t k = 0; k < system->count; k++)
            for (int crowd = 0; crowd < GARBAGE_CROWDS; crowd++)
                if (self->all || random_below(&self->random, all) < CROWDS_SAMPLE)
                    try_crowd(self, &system->cases[k], &self->keys.rows[i], crowd);
    }
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void judge_system(const drill_system* system)
{
    static judge self;
    memset(&self, 0, sizeof(self));
    self.drill = drill_start(system);
    self.keys = garbage_keys();
    self.all = getenv("GUILDHALL_GARBAGE") != NULL;
    self.random = random_for_test("plants");
    for (size_t i = 0; i < system->count; i++) try_case(&self, &system->cases[i]);
    try_crowds(&self);
    page_free_table(&self.keys);
    if (self.all) printf("    garbage: %s: %u of %u failed\n", system->name, self.failed, self.tried);
    assert_true(self.tried > 10);
    if (self.failed > 0) fail_msg("%s: %u of %u failed", system->name, self.failed, self.tried);
}

#define GARBAGE_TEST(system)                                                                                           \
    static void system(void** state)                                                                                   \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        judge_system(&drill_##system);                                                                                 \
    }
DRILL_SYSTEMS(GARBAGE_TEST)

static void every_key_of_the_page_is_planted(void** state)
{
    (void)state;
#define SYSTEM_ROW(system) &drill_##system,
    static const drill_system* const systems[] = {DRILL_SYSTEMS(SYSTEM_ROW)};
    page_table keys = garbage_keys();
    char missing[128] = "";
    for (size_t i = 0; i < keys.count; i++)
    {
        const char* row = garbage_key_of(&keys.rows[i]);
        unsigned found = 0;
        for (size_t k = 0; k < sizeof(systems) / sizeof(systems[0]); k++) found += drill_has_row(systems[k], row);
        bool is_epoch = strstr(row, ":epoch") != NULL; /* below, and cluster.epochs_of_another_form_are_corrupt */
        if (found == 1 || is_epoch) continue;
        snprintf(missing, sizeof(missing), "%s", row);
    }
    page_free_table(&keys);
    if (missing[0] != '\0') fail_msg("no drill has the key %s", missing);
}

/* Each op of a new client ends CORRUPT, or as if the key were in order. */
static void epoch(void** state)
{
    (void)state;
    static const char* const plants[] = {
        "SET gh:epoch x",    "SET gh:epoch 0",      "SET gh:epoch -1",
        "SET gh:epoch nan",  "RPUSH gh:epoch 1",    "HSET gh:epoch 1 1",
        "SADD gh:epoch 1",   "SET gh:epoch 1e400",  "SET gh:epoch 9007199254740993",
        "ZADD gh:epoch 1 1", "XADD gh:epoch * 1 1", "SET gh:epoch 123456789012345678901234567890"};
    unsigned failed = 0;
    for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++)
    {
        redis_server* server = redis_server_start(NULL);
        redis_server_do(server, plants[i]);
        game* from = game_start(redis_server_address(server));
        gh_lock* lock = GAME_NEW(from, gh_lock);
        gh_lock_config config = gh_lock_config_default();
        config.wait_us = 2 * SECOND_US;
        assert_status(gh_lock_begin(lock, from->client, gh_str_literal(DRILL_NAME), &config), GH_OK);
        GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
        gh_status status = gh_op_poll(&lock->op);
        bool older = strcmp(plants[i], "SET gh:epoch 0") == 0; /* a lone number: an older layout of the keys */
        if (status != GH_HELD && status != GH_CORRUPT && !(older && status == GH_REFUSED))
        {
            printf("    garbage: epoch: %s: %s\n", plants[i], gh_status_name(status));
            failed++;
        }
        game_end(from);
        redis_server_end(server);
    }
    assert_int_equal(failed, 0);
}

#define GARBAGE_TEST_NAME(system) cmocka_unit_test(system),
TEST_FILE(garbage, cmocka_unit_test(every_key_of_the_page_is_planted), cmocka_unit_test(epoch),
          DRILL_SYSTEMS(GARBAGE_TEST_NAME));
