/* Every call of the platform goes wrong once, in each way it can: whatever was begun is done all the same,
   and in its order. */

#include "support/scene/game.h"
#include "support/server/scripted.h"

#include <string.h>

#define MS UINT64_C(1000)

typedef enum fault
{
    FAULT_BROKEN,   /* open and connected refuse, send and receive find it closed  */
    FAULT_LATER,    /* nothing moves now                                           */
    FAULT_SHORT,    /* one byte moves                                              */
    FAULT_TOO_MANY, /* a platform that is broken: more bytes than there were       */
    FAULT_COUNT
} fault;

/* The n-th call is the one; the ones behind it too, for as long as it says. */
typedef struct mischief
{
    gh_platform plain;
    fault how;
    uint64_t from;
    uint64_t times;
    uint64_t calls;
} mischief;

static bool goes_wrong(mischief* self)
{
    uint64_t call = self->calls++;
    return call >= self->from && call - self->from < self->times;
}

static gh_status wrong_open(void* context, const gh_address* address, intptr_t* stream)
{
    mischief* self = ((scripted*)context)->context;
    if (!goes_wrong(self) || self->how != FAULT_BROKEN) return self->plain.open(context, address, stream);
    return GH_REFUSED;
}

static gh_status wrong_connected(void* context, intptr_t stream)
{
    mischief* self = ((scripted*)context)->context;
    if (!goes_wrong(self)) return self->plain.connected(context, stream);
    return self->how == FAULT_BROKEN ? GH_REFUSED : GH_PENDING;
}

static int64_t wrong_send(void* context, intptr_t stream, const void* bytes, size_t size)
{
    mischief* self = ((scripted*)context)->context;
    if (!goes_wrong(self)) return self->plain.send(context, stream, bytes, size);
    switch (self->how)
    {
    case FAULT_BROKEN: return GH_STREAM_CLOSED;
    case FAULT_LATER: return GH_STREAM_WOULD_BLOCK;
    case FAULT_SHORT: return self->plain.send(context, stream, bytes, 1);
    case FAULT_TOO_MANY: return (int64_t)size + 1;
    case FAULT_COUNT: break;
    }
    return INT64_MIN;
}

static int64_t wrong_receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    mischief* self = ((scripted*)context)->context;
    if (!goes_wrong(self)) return self->plain.receive(context, stream, bytes, size);
    switch (self->how)
    {
    case FAULT_BROKEN: return GH_STREAM_CLOSED;
    case FAULT_LATER: return GH_STREAM_WOULD_BLOCK;
    case FAULT_SHORT: return self->plain.receive(context, stream, bytes, 1);
    case FAULT_TOO_MANY: return (int64_t)size + 1;
    case FAULT_COUNT: break;
    }
    return INT64_MIN;
}

/* A lock is taken and given back, commands are asked. Returns how many calls it took. */
static uint64_t scenario(fault how, uint64_t from, uint64_t times)
{
    scripted* world = scripted_new();
    mischief* self = SCRIPTED_NEW(world, mischief);
    gh_client_config config = scripted_config();
    config.wake = true;
    self->plain = world->platform;
    self->how = how;
    self->from = from;
    self->times = times;
    world->context = self;
    world->platform.open = wrong_open;
    world->platform.connected = wrong_connected;
    world->platform.send = wrong_send;
    world->platform.receive = wrong_receive;
    world->open_status = GH_PENDING;
    scripted_start(world, &config);
    gh_lock* lock = scripted_want(world, "sword", 3600 * SECOND_US, 60 * SECOND_US);
    gh_command* first = scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_HELD, MS, 30 * SECOND_US);
    gh_command* second = scripted_ask(world, "B", 60 * SECOND_US, GH_REPEAT_SAFE);
    gh_lock_release(lock);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_OK, MS, 30 * SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&first->op) == GH_OK, MS, 30 * SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&second->op) == GH_OK, MS, 30 * SECOND_US);
    SCRIPTED_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_READY, MS, 30 * SECOND_US);
    gh_client_shutdown(world->client);
    assert_int_equal(world->closes, world->opens);
    return self->calls;
}

/* The n-th call, for every n that the scenario reaches. */
static void each_call(fault how, uint64_t times)
{
    uint64_t from = 0;
    while (scenario(how, from, times) > from) from++;
    assert_true(from > 15);
}

static void each_call_breaks(void** state)
{
    (void)state;
    each_call(FAULT_BROKEN, 1);
    each_call(FAULT_BROKEN, 2);
    each_call(FAULT_BROKEN, 10);
}

static void each_call_finds_nothing_to_do(void** state)
{
    (void)state;
    each_call(FAULT_LATER, 1);
    each_call(FAULT_LATER, 3);
    each_call(FAULT_LATER, 500);
}

static void each_call_moves_one_byte(void** state)
{
    (void)state;
    each_call(FAULT_SHORT, 1);
    each_call(FAULT_SHORT, 7);
    each_call(FAULT_SHORT, 2000);
}

static void each_call_claims_too_much(void** state)
{
    (void)state;
    each_call(FAULT_TOO_MANY, 1);
    each_call(FAULT_COUNT, 1); /* and less than nothing */
}

/* ---- order --------------------------------------------------------------------------------------------- */

/* The first letters of what was asked, in the order in which it came. */
static bool note_word(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    char* order = world->context;
    size_t size = strlen(order);
    (void)reply;
    if (count == 1 && words[0].size == 1 && size < 15) order[size] = words[0].bytes[0];
    return false;
}

/* Requests that were on the wire when the link died go again before those that waited, and in their order;
   whether they had left whole or not. */
static void order_outlives_the_link(void** state)
{
    (void)state;
    const size_t sent[] = {0, 1, 12, 25, 60, SIZE_MAX};
    for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++)
    {
        static const char* const names[] = {"A", "B", "C", "D", "E", "F", "G", "H"};
        scripted* world = scripted_new();
        gh_command* ops[8];
        char* order = scripted_keep(world, 16);
        scripted_start_ready(world, NULL);
        world->silent = true;
        for (int j = 0; j < 5; j++) ops[j] = scripted_ask(world, names[j], 60 * SECOND_US, GH_REPEAT_SAFE);
        world->send_max = sent[i];
        scripted_tick(world, MS);
        for (int j = 5; j < 8; j++) ops[j] = scripted_ask(world, names[j], 60 * SECOND_US, GH_REPEAT_SAFE);
        world->streams[0].ended = true;
        SCRIPTED_UNTIL(world, !gh_client_ready(world->client), MS, SECOND_US);
        world->silent = false;
        world->send_max = SIZE_MAX;
        world->context = order;
        world->answer = note_word;
        SCRIPTED_UNTIL(world, gh_op_poll(&ops[7]->op) == GH_OK, MS, SECOND_US);
        assert_int_equal(scripted_stats(world).ops_ended, 8);
        assert_string_equal(order, "ABCDEFGH");
    }
}

TEST_FILE(calls, cmocka_unit_test(each_call_breaks), cmocka_unit_test(each_call_finds_nothing_to_do),
          cmocka_unit_test(each_call_moves_one_byte), cmocka_unit_test(each_call_claims_too_much),
          cmocka_unit_test(order_outlives_the_link));
