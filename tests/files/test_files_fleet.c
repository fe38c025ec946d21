/* Files and aggregates in processes of their own that are killed at any time. What comes out is audited in
   the store by the layout of KEYS.md, and byte by byte. */

#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "support/scene/parcel.h"
#include "support/scene/places.h"
#include "support/process.h"
#include "support/random.h"
#include "support/server/redis_server.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define FILES     3u
#define READERS   3u
#define SIZE      ((size_t)300 * 1024)
#define COUNTRIES 12u
#define CITIES    (COUNTRIES * 50u)

/* What a child and its parent both see. */
typedef struct life
{
    atomic_uint ticks;   /* how far the child has come            */
    unsigned last_ticks; /* there it waits to be killed; 0: never */
} life;

typedef struct job
{
    const char* address;
    unsigned number;
    life* life;
} job;

static gh_str file_name(char* text, unsigned number)
{
    snprintf(text, 16, "file %u", number);
    return gh_str_of(text);
}

static void live_on(const job* work, game* self)
{
    unsigned ticks = atomic_fetch_add(&work->life->ticks, 1) + 1;
    while (ticks == work->life->last_ticks) wait_briefly();
    game_tick(self);
    wait_briefly();
}

/* Children tick by themselves: the harness' macros would assert. */
#define CHILD_UNTIL(work, self, condition)                                                                             \
    while (!(condition)) live_on(work, self)

/* ---- a sender and its readers, all mortal -------------------------------------------------------------- */

/* Ends 0 when the file is sealed. */
static int send_in_child(void* context, int results)
{
    const job* work = context;
    char text[16];
    (void)results;
    game_forget_all();
    game* self = game_start(work->address);
    sender* from = sender_new(self, READERS, parcel_bytes(self, SIZE, work->number, true), SIZE);
    from->config.cap_bytes = 64 * 1024;
    from->config.tick_bytes = 8 * 1024;
    sender_begin(from, file_name(text, work->number));
    CHILD_UNTIL(work, self, sender_step(from));
    gh_status status = gh_op_poll(&from->op.op);
    CHILD_CHECK(status == GH_OK || status == GH_LOST);
    return status == GH_OK ? 0 : 1;
}

/* Ends 0 when it is done; the digest of what it read lies in the parent's hands, who has the same bytes. A
   reader that was killed goes on behind what it had told, and reads the rest of a line anew. */
static int read_in_child(void* context, int results)
{
    const job* work = context;
    char text[16];
    char name[16];
    game_forget_all();
    game* self = game_start(work->address);
    reader* to = reader_new(self, SIZE);
    snprintf(name, sizeof(name), "%u", work->number % READERS);
    to->pulls_max = 4;
    const char* bytes = parcel_bytes(self, SIZE, work->number / READERS, true);
    for (;;)
    {
        reader_begin(to, file_name(text, work->number / READERS), name);
        CHILD_UNTIL(work, self, reader_step(to));
        gh_status status = gh_op_poll(&to->op.op);
        if (status == GH_GONE && to->op.id == 0) continue; /* its sender has not begun */
        if (status == GH_EXISTS) return 0;                 /* it was killed between the store's word and its end */
        CHILD_CHECK(status == GH_OK);
        break;
    }
    CHILD_CHECK(to->op.resumed_bytes + to->got_size == SIZE);
    CHILD_CHECK(memcmp(to->got, bytes + to->op.resumed_bytes, to->got_size) == 0);
    CHILD_CHECK(write(results, "done", 4) == 4);
    return 0;
}

/* Runs a child again and again, killing it a few times before it may end. A life is as long as was drawn, in ticks: so
   it ends in the midst of the work, on a machine of any speed. It may go on for a few ticks until it is killed,
   anywhere in them, and no further. */
typedef struct mortal
{
    child_process* child;
    child_body body;
    job work;
    unsigned ticks_max; /* of a life, where there are kills left: in more it could do all of its work */
    unsigned kills_left;
    bool over;
} mortal;

#define TICKS_TO_BE_KILLED_IN 3u

static void mortals_born(mortal* all, size_t count)
{
    life* lives = mmap(NULL, count * sizeof(life), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(lives != MAP_FAILED);
    for (size_t i = 0; i < count; i++) all[i].work.life = &lives[i];
}

static void mortals_buried(mortal* all, size_t count)
{
    munmap(all[0].work.life, count * sizeof(life));
}

static void step_mortal(mortal* self, random_stream* random)
{
    if (self->over) return;
    if (self->child == NULL)
    {
        unsigned ticks = 1 + (unsigned)random_below(random, self->ticks_max);
        atomic_store(&self->work.life->ticks, 0);
        self->work.life->last_ticks = self->kills_left > 0 ? ticks + TICKS_TO_BE_KILLED_IN : 0;
        self->child = child_start(self->body, &self->work);
    }
    if (child_has_ended(self->child))
    {
        int status = child_wait(self->child);
        if (status != 0 && status != 1) fail_msg("a child ended with %d", status);
        self->over = status == 0;
        child_end(self->child);
        self->child = NULL;
    }
    else if (self->kills_left > 0 &&
             atomic_load(&self->work.life->ticks) + TICKS_TO_BE_KILLED_IN >= self->work.life->last_ticks)
    {
        self->kills_left--;
        child_kill9(self->child);
        child_end(self->child);
        self->child = NULL;
    }
}

static unsigned kills_left(const mortal* self, unsigned count)
{
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++) left += self[i].kills_left;
    return left;
}

static bool all_over(const mortal* self, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!self[i].over) return false;
    return true;
}

static void files_arrive_whoever_is_killed(void** state)
{
    (void)state;
    random_stream random = random_for_test("kills");
    redis_server* server = redis_server_start(NULL);
    mortal all[FILES * (1 + READERS)];
    memset(all, 0, sizeof(all));
    for (unsigned i = 0; i < FILES * (1 + READERS); i++)
    {
        all[i].body = i < FILES ? send_in_child : read_in_child;
        all[i].work.address = redis_server_address(server);
        all[i].work.number = i < FILES ? i : i - FILES;
        all[i].kills_left = 3;
        all[i].ticks_max = i < FILES ? 25 : 40; /* a sender takes 38 and more, and a reader waits for it */
    }
    mortals_born(all, FILES * (1 + READERS));
    uint64_t end_us = wait_cap_us();
    while (!all_over(all, FILES * (1 + READERS)))
    {
        if (wait_now_us() > end_us) fail_msg("waited too long for children");
        for (unsigned i = 0; i < FILES * (1 + READERS); i++) step_mortal(&all[i], &random);
        wait_briefly();
    }
    assert_true(kills_left(all, FILES * (1 + READERS)) <= FILES * (1 + READERS)); /* two thirds and more took place */
    mortals_buried(all, FILES * (1 + READERS));
    for (unsigned i = 0; i < FILES; i++)
    {
        assert_int_equal(redis_server_integer(server, "HGET gh:{file:file%%20%u}:s b", i), SIZE);
        assert_int_equal(redis_server_integer(server, "EXISTS gh:{file:file%%20%u}:c gh:{file:file%%20%u}:o", i, i), 0);
        for (unsigned j = 0; j < READERS; j++)
            assert_string_equal(redis_server_text(server, "HGET gh:{file:file%%20%u}:s r:%u", i, j), "d");
    }
}

/* ---- workers that count, all mortal -------------------------------------------------------------------- */

/* Counts every log of the work list, in an order of its own, whether somebody else does or not. */
static int count_in_child(void* context, int results)
{
    const job* work = context;
    (void)results;
    game_forget_all();
    game* self = game_start(work->address);
    gh_geo* table = places_many(self, COUNTRIES);
    gh_aggregate* aggregate = places_aggregate(self, table, 2);
    gh_aggregate_flush* flush = GAME_NEW(self, gh_aggregate_flush);
    for (unsigned i = 0; i < FILES; i++)
    {
        unsigned number = (i + work->number) % FILES;
        size_t size = 0;
        char name[16];
        char* log = places_log(self, COUNTRIES, 5000, 100 + number, &size);
        CHILD_CHECK(gh_aggregate_start(aggregate, table) == GH_OK);
        CHILD_CHECK(gh_aggregate_add(aggregate, gh_str_make(log, size)) == GH_OK);
        CHILD_CHECK(gh_aggregate_flush_begin(flush, self->client, aggregate, gh_str_literal("events"),
                                             file_name(name, number), NULL) == GH_OK);
        CHILD_UNTIL(work, self, gh_op_poll(&flush->op) != GH_PENDING);
        gh_status status = gh_op_poll(&flush->op);
        CHILD_CHECK(status == GH_OK || status == GH_EXISTS);
    }
    return 0;
}

static void logs_are_counted_once_whoever_is_killed(void** state)
{
    (void)state;
    random_stream random = random_for_test("kills");
    redis_server* server = redis_server_start(NULL);
    game* audit = game_start("unix:/nowhere");
    mortal workers[4];
    memset(workers, 0, sizeof(workers));
    for (unsigned i = 0; i < 4; i++)
    {
        workers[i].body = count_in_child;
        workers[i].work.address = redis_server_address(server);
        workers[i].work.number = i;
        workers[i].kills_left = 6;
        workers[i].ticks_max = 8;
    }
    mortals_born(workers, 4);
    uint64_t end_us = wait_cap_us();
    while (!all_over(workers, 4))
    {
        if (wait_now_us() > end_us) fail_msg("waited too long for children");
        for (unsigned i = 0; i < 4; i++) step_mortal(&workers[i], &random);
        wait_briefly();
    }
    assert_true(kills_left(workers, 4) <= 16);
    mortals_buried(workers, 4);
    unsigned long long* counts = GAME_NEW_ARRAY(audit, unsigned long long, 2 * (CITIES + 1));
    for (unsigned i = 0; i < FILES; i++)
    {
        size_t size = 0;
        char* log = places_log(audit, COUNTRIES, 5000, 100 + i, &size);
        places_count(log, size, CITIES, counts);
    }
    places_must_be(server, "events", "2011-10-10", COUNTRIES, counts);
    places_must_be(server, "events", "2011-10-11", COUNTRIES, counts + CITIES + 1);
}

TEST_FILE(files_fleet, cmocka_unit_test(files_arrive_whoever_is_killed),
          cmocka_unit_test(logs_are_counted_once_whoever_is_killed));
